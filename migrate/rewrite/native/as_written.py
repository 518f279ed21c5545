"""Where the author's text has a line that has moved since, or was changed a little."""

from __future__ import annotations

from difflib import get_close_matches

from ...project.facts import ParsedModule


def lines_as_written(line: int, now: ParsedModule, old: ParsedModule) -> list[int]:
    """The lines of ``old`` that a line of ``now``, made of it, may have been."""
    if now.source.text == old.source.text:
        return [line]
    lines = [text.strip() for text in old.source.text.splitlines()]
    shown = now.source.text.splitlines()[line - 1].strip()
    like = get_close_matches(shown, lines, 1, 0.75)
    return [one for one, text in enumerate(lines, 1) if text in like]
