"""The training module of a project: its name, its text, and what is there of it."""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..names.ast_nodes import tree_of
from ..names.ast_nodes import walk as walk_ast
from ..project.facts import ProjectFacts
from ..project.files import from_here, is_ours
from ..project.reading import is_folder, is_taken, read_or_nothing
from ..report.findings import ADDED, Outcome, told
from ..report.model import FileResult, FileStatus
from ..report.needs import Need
from ..training import parts_for, training_module
from .asked import words_by_hand
from .places import NoPlace, Place

# The first that a project has not taken for something of its own.
NAMES = ("training", "training_loop", "tf2_training")
_IMPORTS_OURS = re.compile(rb"^from [\w.]*(training|training_loop) ", re.MULTILINE)
_MARK = re.compile(r"\n# Parts: (?P<parts>[\w., ]+)\. Digest: (?P<digest>\w+)\.\n\Z")
_DEFINED = re.compile(r"^(?:class|def) (\w+)", re.MULTILINE)
_IMPORT = re.compile(rb"^[ \t\"]*(?:from|import)[ \t]+(\w+)\b", re.MULTILINE)


@dataclass(frozen=True)
class _Standing:
    """A training module that stands in the project: what is in it, and of whom."""

    parts: frozenset[str]
    # Its classes and functions, and `Class.method`.
    names: frozenset[str]
    # Nobody changed it since a rewrite wrote it.
    untouched: bool

    @classmethod
    def at(cls, path: Path) -> _Standing | None:
        """The one at a path; None where there is none."""
        raw = read_or_nothing(path)
        if not raw:
            return None
        text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
        found = _MARK.search(text)
        if found is None:
            return cls(frozenset(), _names(text), False)
        untouched = _digest(text[: found.start()]) == found["digest"]
        return cls(frozenset(found["parts"].split(", ")), _names(text), untouched)

    def lacks(self, words: Iterable[str]) -> list[str]:
        """What a module for some words has, and this one has not."""
        return sorted(_names(training_module(words)) - self.names)


def _names(text: str) -> frozenset[str]:
    try:
        body = tree_of(text).body
    except (SyntaxError, ValueError):
        return frozenset()
    found = set()
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            found |= {f"{node.name}.{one.name}" for one in methods}
    return frozenset(found)


def training_text(words: Iterable[str]) -> str:
    """A training module that says where it comes from, and tells who changed it."""
    words = {*words}
    text = training_module(words).rstrip("\n") + "\n"
    names = {*_DEFINED.findall(text)}
    parts = ", ".join(
        part
        for part in parts_for(words)
        if "." not in part or part.partition(".")[2] in names
    )
    return f"{text}\n# Parts: {parts}. Digest: {_digest(text)}.\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def name_for(place: Place, facts: ProjectFacts, paths: Iterable[Path]) -> str:
    """The module's name at a place, one that the project has not taken.

    A script finds what stands beside it, and itself, before what stands elsewhere.
    """
    imported = _imported(facts)
    homes = {path.parent for path in paths}
    for name in NAMES:
        files = [folder / f"{name}.py" for folder in place.folders]
        if all(is_ours(read_or_nothing(file)) for file in files):
            return name
        beside = [home / f"{name}.py" for home in homes]
        files += [file for file in beside if not is_ours(read_or_nothing(file))]
        taken = any(is_taken(f) or is_folder(f.with_suffix("")) for f in files)
        if not taken and name.encode() not in imported:
            return name
    raise NoPlace("its project has modules of its own called " + ", ".join(NAMES))


def _imported(facts: ProjectFacts) -> frozenset[bytes]:
    """The first names of all modules that the given files import."""
    return facts.once(
        "first names of imports",
        lambda: frozenset(
            name
            for path in facts.files
            for name in _IMPORT.findall(read_or_nothing(path))
        ),
    )


def check_has(place: Place, name: str, words: Iterable[str]) -> None:
    """Raises NoPlace where a module that a person changed lacks what is asked of it."""
    for folder in place.folders:
        standing = _Standing.at(folder / f"{name}.py")
        if standing is None or standing.untouched:
            continue
        lacking = standing.lacks(words)
        if lacking:
            raise NoPlace(
                f"{name}.py was changed since it was written, and has no "
                f"`{lacking[0]}`: move it away, rewrite again, and put the changes in"
            )


def with_training_files(results: Sequence[FileResult]) -> list[FileResult]:
    """The results with those of the training modules that the changed files import."""
    wanted: dict[str, frozenset[str]] = {}
    for result in results:
        for need in result.needs or _asked_by_hand(result):
            wanted[need.path] = wanted.get(need.path, frozenset()) | need.words
    given = {os.path.abspath(result.path): result.path for result in results}
    made = {}
    for path, words in sorted(wanted.items()):
        shown = given.get(path, _as_given(Path(path), results))
        made[path] = _added(shown, Need(path, words))
    kept = [one for one in results if os.path.abspath(one.path) not in made]
    return [*kept, *made.values()]


def _asked_by_hand(result: FileResult) -> tuple[Need, ...]:
    """What a native file that stays as it is asks of the module that stands there."""
    if result.new is not None or not _IMPORTS_OURS.search(result.old):
        return ()
    text = result.old.decode("utf-8", "replace")
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError):
        return ()
    for node in walk_ast(tree, ast.ImportFrom):
        if not node.module:
            continue
        parts = node.module.split(".")
        if parts[-1] in NAMES:
            near = Path(os.path.abspath(result.path)).parents
            folders = near[node.level - 1 : node.level] if node.level else near
            for folder in folders:
                path = folder.joinpath(*parts).with_suffix(".py")
                if is_ours(read_or_nothing(path)):
                    words = words_by_hand(text, tree, parts[-1])
                    return (Need(str(path), frozenset(words)),)
    return ()


def _added(path: Path, need: Need) -> FileResult:
    """The training module as it has to be: new, with more parts, or as it is."""
    old = read_or_nothing(path)
    lines = old.count(b"\n")
    standing = _Standing.at(path)
    words = set(need.words)
    if standing is not None:
        if not standing.untouched:
            # `check_has` has seen that all is there.
            said = "stays as somebody changed it"
            found = told(path, ADDED, said, Outcome.ADVICE)
            return FileResult(path, FileStatus.UNCHANGED, (found,), old, lines=lines)
        words |= standing.parts | standing.names
    text = training_text(words)
    if text.encode() == old.replace(b"\r\n", b"\n"):
        return FileResult(path, FileStatus.UNCHANGED, old=old, lines=lines)
    message = f"holds Task and Trainer, {text.count(chr(10))} lines"
    found = told(path, ADDED, message, Outcome.REWRITTEN)
    new = text.encode("utf-8")
    return FileResult(
        path, FileStatus.CHANGED, (found,), old, new, lines=lines, added=True
    )


def _as_given(path: Path, results: Sequence[FileResult]) -> Path:
    """A path as the command line would have named it: relative where others are."""
    if any(result.path.is_absolute() for result in results):
        return path
    return from_here(path)
