"""Text offsets and edits: lines as Python counts them, splices as spans."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

# str.splitlines() also splits at form feeds and Unicode separators, which
# Python's tokenizer does not.
_NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, order=True)
class Edit:
    """Replace ``text[start:end]`` by ``new``. Equal spans insert."""

    start: int
    end: int
    new: str


class Lines:
    """Converts between character offsets and (line, column) of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """Offset of a 1-based line and a 0-based column."""
        return self.starts[line - 1] + column

    def place(self, offset: int) -> tuple[int, int]:
        """The 1-based line and 1-based column of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a 1-based line without its newline."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


def note_above(lines: Lines, line: int, rule: str, text: str) -> list[Edit]:
    """What puts a note of a rule above a line, unless it has that already."""
    mark = f"TODO(tfmigrate): {rule}"
    above = line - 1
    while above >= 1 and lines.line_text(above).lstrip().startswith("#"):
        if mark in lines.line_text(above):
            return []
        above -= 1
    own = lines.line_text(line)
    indent = own[: len(own) - len(own.lstrip())]
    newline = _NEWLINE.search(lines.text)
    wrapped = textwrap.wrap(
        f"{mark} {text}; see `tfmigrate explain {rule}`",
        max(40, 86 - len(indent.expandtabs(8))),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    end = newline.group() if newline else "\n"
    start = lines.starts[line - 1]
    return [Edit(start, start, "".join(f"{indent}# {part}{end}" for part in wrapped))]


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap; insertions at one place keep their order.

    Raises ValueError on overlap: two rules wanted the same characters, and
    doing either half would be a guess.
    """
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end))
    parts: list[str] = []
    position = 0
    for edit in ordered:
        if edit.start < position:
            raise ValueError(f"edits overlap at offset {edit.start}")
        parts.append(text[position : edit.start])
        parts.append(edit.new)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)
