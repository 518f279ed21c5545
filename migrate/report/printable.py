"""Text of others, as it may stand in a line on a terminal.

Names of files, and of variables in a checkpoint, may hold anything: a line break, which
makes a second line that looks like ours, or the sequences with which a terminal is told
to hide text or to change its title. They are shown as Python would write them.
"""

from __future__ import annotations

_LETTERS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: object) -> str:
    """One line that does nothing but show its text."""
    line = str(text)
    return line if line.isprintable() else "".join(map(_shown, line))


def quoted_name(name: str) -> str:
    """A file name for a diff, quoted where git and patch expect that."""
    if all(_is_harmless(each) and each not in '"\\' for each in name):
        return f"{name}\t" if " " in name else name
    parts = []
    for each in name:
        if each in '"\\':
            parts.append(f"\\{each}")
        elif _is_harmless(each):
            parts.append(each)
        else:
            octal = (
                f"\\{byte:03o}" for byte in each.encode("utf-8", "surrogateescape")
            )
            parts.append(_LETTERS.get(each) or "".join(octal))
    return f'"{"".join(parts)}"'


def _is_harmless(each: str) -> bool:
    # Bytes that are no text go out as they are: the terminal shows a mark for them.
    return each.isprintable() or "\udc80" <= each <= "\udcff"


def _shown(each: str) -> str:
    if _is_harmless(each):
        return each
    return _LETTERS.get(each) or each.encode("unicode_escape").decode("ascii")
