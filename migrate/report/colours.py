"""Colours for reports that a person reads on a terminal; rich is imported for no other.

The text is the same with and without: what a line is shows in its form.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.text import Text

_FINDING = re.compile(
    r"(?P<place>.+?:(?:cell \d+:)?\d+:\d+) (?P<rule>TFM\d+) (?P<message>.*?)"
    r"(?P<end> \[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\])?"
)
_FAILURE = re.compile(r"(?P<place>.+?): (?P<failure>cannot process: .*)")
_RULE_COUNT = re.compile(r"  (?P<rule>TFM\d+)  .*")
_STYLES = {"place": "bold", "rule": "cyan", "failure": "red"}
_ENDS = {"left": "yellow", "failed": "red", "advice": "magenta"}
_DIFF = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def wants_colours(stream: TextIO) -> bool:
    """Whether a person looks at a stream and has not asked for plain text."""
    return (
        stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


def print_coloured(text: str, stream: TextIO) -> None:
    """Print a text report or a diff."""
    from rich.console import Console

    console = Console(
        file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True
    )
    diff = text.startswith("--- ")
    for line in text.splitlines():
        console.print(_diff_line(line) if diff else _line(line))


def _line(line: str) -> Text:
    from rich.text import Text

    shown = Text(line)
    for form in (_FINDING, _FAILURE, _RULE_COUNT):
        match = form.fullmatch(line)
        if match is None:
            continue
        for name in match.groupdict():
            start, end = match.span(name)
            if name == "end" and start >= 0:
                word = re.match(r" \[(\w+)", line[start:])
                style = _ENDS.get(word.group(1), "dim") if word else "dim"
                shown.stylize(style, start, end)
            elif name in _STYLES and start >= 0:
                shown.stylize(_STYLES[name], start, end)
        break
    return shown


def _diff_line(line: str) -> Text:
    from rich.text import Text

    style = next((s for start, s in _DIFF.items() if line.startswith(start)), "")
    return Text(line, style=style)
