"""Which of the given files run together: the import graph of a run's results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..project.facts import ProjectFacts
from ..project.reached import reached
from ..project.reading import exists, read_file
from ..report.model import FileResult, FileStatus
from .file_facts import is_started

# Files without legacy words are read here only to see whether they start something.
_LARGEST = 1_000_000


@dataclass(eq=False)
class ImportGraph:
    """Questions about files, named by their absolute paths."""

    files: Mapping[str, FileResult]
    facts: ProjectFacts
    _closures: dict[str, frozenset[str]] = field(default_factory=dict)
    _users: dict[str, set[str]] | None = None
    _starts: dict[str, bool] = field(default_factory=dict)

    def closure(self, key: str) -> frozenset[str]:
        """The files that run when one is imported, itself among them."""
        if key not in self._closures:
            self._closures[key] = frozenset(reached([key], self._near))
        return self._closures[key]

    def _near(self, key: str) -> list[str]:
        targets = self.facts.imports(key)
        found = (one for target in targets for one in (target, *self.packages(target)))
        return [one for one in found if one in self.files]

    def packages(self, key: str) -> list[str]:
        """The given ``__init__.py`` files that Python runs before a file."""
        found = []
        folder = os.path.dirname(key)
        while True:
            package = os.path.join(folder, "__init__.py")
            if not exists(package):
                break
            if package != key and package in self.files:
                found.append(package)
            folder = os.path.dirname(folder)
        return found[::-1]

    def above(self, key: str) -> set[str]:
        """The files that reach a file, itself among them."""
        if self._users is None:
            self._users = {}
            for one in self.files:
                for target in self._near(one):
                    self._users.setdefault(target, set()).add(one)
        users = self._users
        return {*reached([key], lambda one: users.get(one, ()))}

    def starts(self, key: str) -> bool:
        """Whether a program begins in a file."""
        result = self.files[key]
        if result.file_facts is not None:
            return result.file_facts.starts
        if key not in self._starts:
            skipped = result.status is FileStatus.SKIPPED
            self._starts[key] = skipped and _reads_started(result.path)
        return self._starts[key]

    def entries(self, key: str) -> list[str]:
        """The files in which programs begin that reach a file."""
        return sorted(one for one in self.above(key) if self.starts(one))


def _reads_started(path: Path) -> bool:
    if path.suffix != ".py":
        return False
    try:
        if path.stat().st_size > _LARGEST:
            return False
        text = read_file(path).decode("utf-8", "replace")
    except OSError:
        return False
    return is_started(path.name, text)
