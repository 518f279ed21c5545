"""Which files of a project are one program: values of an Estimator travel in them."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..project.facts import ParsedModule, ProjectFacts
from ..project.files import ITERATOR_CALL, is_ours
from ..project.reached import reached
from ..project.reading import read_or_nothing
from ..project.selection import file_is_ignored, is_test
from .estimator_words import names_estimators

_WORD = re.compile(rb"stimator|contrib|SessionRun|learn_runner")
# What a file that only passes Estimators on says of them.
_CALL = re.compile(
    rb"\.(?:train|evaluate|predict)\(|train_and_evaluate|_fn\b|stimator"
    rb"|(?:Classifier|Regressor)\("
)
_SESSION = re.compile(rb"Session\(|Supervisor\(")
_TENSORFLOW = re.compile(rb"tensorflow|" + ITERATOR_CALL)
_ANYTHING = re.compile(rb"(?s:.)")


@dataclass(frozen=True)
class Group:
    """The files of one program or of several that share their Estimator code.

    ``files`` name Estimators; ``support`` are others that name TensorFlow and that
    they import, or that a script brings to them: a class derived from one of theirs,
    a function that builds a graph. ``takers`` name none of it, but take names of
    ``files``. ``missing`` are among them, but were not given to this run.
    """

    files: tuple[Path, ...]
    support: tuple[Path, ...] = ()
    takers: tuple[Path, ...] = ()
    missing: tuple[Path, ...] = ()

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file of the group."""
        return (*self.files, *self.support, *self.takers)


def group_of(parsed: ParsedModule, facts: ProjectFacts) -> Group | None:
    """The group that a file belongs to, as one of its Estimator files."""
    own = os.path.abspath(parsed.path)
    found = _table(facts).get(own)
    # One that is not given is text from a pipe.
    alone = own not in facts.given or own in _files(facts).alone
    if found is None and alone and names_estimators(parsed.resolver):
        return Group((parsed.path,))
    return found


def _files(facts: ProjectFacts) -> _Files:
    return facts.once("files asked for groups", lambda: _Files(facts, facts.given))


def _table(facts: ProjectFacts) -> dict[str, Group]:
    return facts.once("groups of Estimator files", lambda: _groups(facts))


def supported_by(path: Path, facts: ProjectFacts) -> tuple[Group, ...]:
    """The groups that a file without Estimators supports."""
    own = os.path.abspath(path)
    found = facts.once("groups of supported files", lambda: _supported(facts))
    return tuple(found.get(own, ()))


def _supported(facts: ProjectFacts) -> dict[str, list[Group]]:
    found: dict[str, list[Group]] = {}
    for group in dict.fromkeys(_table(facts).values()):
        for one in (*group.support, *group.takers):
            found.setdefault(os.path.abspath(one), []).append(group)
    return found


def runs_apart(raw: bytes) -> bool:
    """Whether a file works in a session of its own, and passes no Estimators on."""
    return _SESSION.search(raw) is not None and _CALL.search(raw) is None


def is_beside_programs(group: Group, facts: ProjectFacts) -> bool:
    """Whether scripts of other programs stand in the folder of a notebook."""
    folders = {os.path.dirname(os.path.abspath(path)) for path in group.files}
    files, known = _files(facts), _table(facts)
    return any(
        one in known or files.names(one)
        for one in (*known, *files.alone)
        if one.endswith(".py") and os.path.dirname(one) in folders
    )


def _groups(facts: ProjectFacts) -> dict[str, Group]:
    """Every Estimator file with its group, but for those that are programs alone."""
    given = facts.given
    files = _files(facts)
    leaders: dict[str, str] = {}

    def leader(path: str) -> str:
        while leaders.setdefault(path, path) != path:
            path = leaders[path]
        return path

    within: dict[str, set[str]] = {}
    for start in sorted(given):
        if start in files.alone or not files.has(_CALL, start):
            continue
        inside = files.reached(start)
        found = sorted(one for one in inside if files.names(one))
        within[start] = inside
        for one in found:
            leaders[leader(one)] = leader(found[0])
    members: dict[str, set[str]] = {}
    for one in leaders:
        members.setdefault(leader(one), set()).add(one)
    beside = _beside(files, set(leaders))
    table: dict[str, Group] = {}
    for inside in members.values():
        support = set().union(*(beside.get(one, ()) for one in inside))
        for one in inside:
            support |= within.get(one) or files.reached(one)
        support = {one for one in support - inside if files.has(_TENSORFLOW, one)}
        takers = _takers(files, inside) - inside - support
        every = sorted(inside | support | takers)
        parts = [
            tuple(given.get(one, Path(one)) for one in sorted(part))
            for part in (inside, support, takers)
        ]
        missing = tuple(Path(one) for one in every if one not in given)
        group = Group(parts[0], parts[1], parts[2], missing)
        table.update(dict.fromkeys(inside, group))
    return table


def _beside(files: _Files, estimators: set[str]) -> dict[str, set[str]]:
    """For files that name Estimators, what runs with them in a script of the project.

    A script that nothing imports may derive from their classes or hand them functions
    without a word of an Estimator of its own. One with a session is another program.
    """
    found: dict[str, set[str]] = {}
    for start in sorted(files.given) if estimators else ():
        path = files.given[start]
        if start in estimators or is_test(path.name) or files.facts.importers(path):
            continue
        if files.has(_SESSION, start) and not files.has(_CALL, start):
            continue
        inside = files.reached(start)
        for one in inside & estimators:
            found.setdefault(one, set()).update(inside)
    return found


def _takers(files: _Files, inside: set[str]) -> set[str]:
    """Files that take names from these, which may have others afterwards.

    A test that names TensorFlow is none: it may do what no native program does. But
    one with a session may look at data of the program, which have none any more.
    """
    found: set[str] = set()
    pending = sorted(inside)
    while pending:
        for user in files.facts.importers(Path(pending.pop())):
            path = os.path.abspath(user)
            is_own = is_test(user.name) and files.has(_TENSORFLOW, path)
            is_own = is_own and not files.has(_SESSION, path)
            if path not in found and not is_own and files.has(_ANYTHING, path):
                found.add(path)
                if user.name == "__init__.py":
                    pending.append(path)
    return found


class _Files:
    """What is asked of each file, once."""

    def __init__(self, facts: ProjectFacts, given: Mapping[str, Path]) -> None:
        self.facts = facts
        self.given = given
        # The content of a file; nothing of one that is not looked at. All together
        # are too much to keep.
        self.raw = functools.lru_cache(maxsize=16)(_looked_at)
        self.has = functools.cache(self._has)
        self.names = functools.cache(self._names)

    @functools.cached_property
    def alone(self) -> set[str]:
        """Files that may be programs, import nothing of the project, and none them.

        Their trees are not needed before their turn.
        """
        every = reached(sorted(self.given), self.imports)
        joined = {one for path in every for one in self.imports(path)}
        apart = {one for one in self.given if not self.imports(one)} - joined
        return {one for one in apart if self.has(_CALL, one) and self.has(_WORD, one)}

    def imports(self, path: str) -> tuple[str, ...]:
        """The project files that a file imports."""
        return self.facts.imports(path) if self.has(_ANYTHING, path) else ()

    def _has(self, word: re.Pattern[bytes], path: str) -> bool:
        return word.search(self.raw(path)) is not None

    def _names(self, path: str) -> bool:
        """Whether a file names Estimators, told from the parsed text."""
        if not self.has(_WORD, path):
            return False
        raw = self.raw(path)
        shown = self.given.get(path, Path(path))
        parsed = self.facts.parse(shown, self.facts.as_python3(shown, raw))
        return parsed is not None and names_estimators(parsed.resolver)

    def reached(self, start: str) -> set[str]:
        """The file and all project files that it imports, however far."""
        return {*reached([start], self.imports)}


def _looked_at(path: str) -> bytes:
    raw = read_or_nothing(path)
    return b"" if is_ours(raw) or file_is_ignored(raw) else raw
