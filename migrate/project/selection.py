"""Which rules run where: --select, --ignore and comments in the source."""

from __future__ import annotations

import re
from dataclasses import dataclass

_IGNORE = re.compile(r"#\s*tfmigrate:\s*ignore(?:\[([A-Z0-9,\s]*)\])?")
_IGNORE_FILE = re.compile(rb"(?m)^[ \t]*#\s*tfmigrate:\s*ignore-file\b")
_NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Selection:
    """Rule ids or prefixes that are wanted (empty: all) and unwanted.

    The longer prefix wins, so ``--ignore TFM1 --select TFM101`` keeps TFM101.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def allows(self, rule: str) -> bool:
        """Whether a rule may run."""
        wanted = max((len(p) for p in self.select if rule.startswith(p)), default=0)
        unwanted = max((len(p) for p in self.ignore if rule.startswith(p)), default=-1)
        if unwanted >= 0 and unwanted >= wanted:
            return False
        return wanted > 0 or not self.select


def ignored_lines(text: str) -> dict[int, tuple[str, ...]]:
    """Line number -> rule prefixes silenced there (empty: every rule)."""
    if "tfmigrate" not in text:
        return {}
    found: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(_NEWLINE.split(text), start=1):
        match = _IGNORE.search(line)
        if match and not line[match.end() :].startswith("-file"):
            listed = match.group(1)
            found[number] = (
                tuple(part.strip() for part in listed.split(",") if part.strip())
                if listed is not None
                else ()
            )
    return found


def is_silenced(rule: str, prefixes: tuple[str, ...] | None) -> bool:
    """Whether the comment of a line (None: it has none) silences a rule."""
    if prefixes is None:
        return False
    return not prefixes or any(rule.startswith(prefix) for prefix in prefixes)


def is_test(name: str) -> bool:
    """Whether a test runner takes a file for tests, by its name."""
    return name.startswith("test_") or name.endswith("_test.py")


def file_is_ignored(raw: bytes) -> bool:
    """Whether ``# tfmigrate: ignore-file`` stands on a line of its own."""
    return b"tfmigrate" in raw and _IGNORE_FILE.search(raw) is not None
