"""Where the author's text has a line that has moved since, or was changed a little."""

from __future__ import annotations

from difflib import get_close_matches

from ...project.facts import ParsedModule


def lines_as_written(
    line: int, parsed: ParsedModule, written: ParsedModule
) -> list[int]:
    """The lines of ``written`` that a line of ``parsed``, made of it, may have been."""
    if parsed.source.text == written.source.text:
        return [line]
    lines = [text.strip() for text in written.source.text.splitlines()]
    shown = parsed.source.text.splitlines()[line - 1].strip()
    like = get_close_matches(shown, lines, 1, 0.75)
    return [one for one, text in enumerate(lines, 1) if text in like]
