"""Which of the given files run together: the import graph of a run's results."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..project.facts import ProjectFacts
from ..project.reached import reached
from ..project.reading import exists, read_or_nothing
from ..project.selection import is_test
from ..report.model import FileResult, FileStatus, Lack
from .file_facts import is_started
from .results import raw_of

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

    def lack_of(self, key: str) -> Lack | None:
        """The first name that the programs of a file would ask for in vain, if any.

        A program runs with all of its files, and any of them may name what is gone. A
        main module that could not run before does not count, nor do tests: what these
        need is told where it stands.
        """
        for program in self._programs_of(key):
            for one in sorted(program):
                file_facts = self.files[one].file_facts
                for lack in () if file_facts is None else file_facts.lacks:
                    others = (self.files[other] for other in program - {one})
                    if not lack.owners or any(_names(r, lack.owners) for r in others):
                        return lack
        return None

    def _programs_of(self, key: str) -> Iterator[frozenset[str]]:
        """The files of each program that a file is part of."""
        yield self._with_found(self.closure(key))
        for entry in self.entries(key):
            if is_test(self.files[entry].path.name):
                continue
            program = self.closure(entry)
            all_facts = [self.files[one].file_facts for one in program]
            if not any(f is not None and f.gone is not None for f in all_facts):
                yield self._with_found(program)

    def _with_found(self, program: frozenset[str]) -> frozenset[str]:
        """A program with the files that it may import by names it works out.

        These are modules, which do nothing when they are imported.
        """
        folders = set()
        for one in program:
            file_facts = self.files[one].file_facts
            for begins in () if file_facts is None else file_facts.searches:
                named = begins.strip(".").replace(".", os.sep)
                folders.add((os.path.join(os.path.dirname(one), ""), named))
        below = (
            one
            for one in self.files
            if any(_is_below(one, folder, named) for folder, named in folders)
        )
        return program | {one for one in below if not self.starts(one)}


def _is_below(path: str, folder: str, named: str) -> bool:
    """Whether a file may be meant by a name that is, or begins with, a module's."""
    if named:
        whole = f"{os.sep}{named}"
        return f"{whole}{os.sep}" in path or path.endswith(f"{whole}.py")
    return path.startswith(folder)


def _names(result: FileResult, names: frozenset[str]) -> bool:
    """Whether a file has one of the names in it."""
    words = "|".join(map(re.escape, sorted(names)))
    return re.search(rf"\b(?:{words})\b".encode(), raw_of(result) or b"") is not None


def _reads_started(path: Path) -> bool:
    raw = read_or_nothing(path) if path.suffix == ".py" else b""
    small = len(raw) <= _LARGEST
    return small and is_started(path.name, raw.decode("utf-8", "replace"))
