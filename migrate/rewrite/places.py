"""Where the training module of a program stands, and how its files import it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from ..names.dotted import import_path, imported_names
from ..project.facts import ParsedModule, ProjectFacts
from ..project.reading import is_file
from .programs import Group

# Programs in several directories that share files: each has a module of its own.
_MOST_HOMES = 4
_ADDS = re.compile(r"^sys\.path\b", re.MULTILINE)
_IMPORTS = re.compile(r"^\s*(?:from|import)\s+tensorflow\b", re.MULTILINE)


class NoPlace(Exception):
    """No directory is one that every file of a program can import from."""


@dataclass(frozen=True)
class Place:
    """A directory for the module: ``package`` is its dotted name from ``root``."""

    root: str
    package: str
    # Files that others find by where these stand.
    found: frozenset[str] = frozenset()
    # Where other programs that share files with the first start: each has its own.
    others: tuple[str, ...] = ()
    # It looks like a package, and nothing tells whether its file is started by path
    # or with `python -m`, which does not search it.
    unsure: bool = False

    @property
    def folder(self) -> Path:
        """The directory."""
        return Path(self.root, *filter(None, self.package.split(".")))

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every directory that gets the module."""
        return (self.folder, *map(Path, self.others))

    def package_for(self, parsed: ParsedModule) -> str:
        """What a file writes between ``from`` and ``import``; empty for none."""
        path = os.path.abspath(parsed.path)
        if not self.package or not (path in self.found or _is_relative(parsed)):
            return self.package
        own = os.path.relpath(os.path.dirname(path), self.root)
        parts = [] if own == "." else own.split(os.sep)
        wanted = self.package.split(".")
        if parts[: len(wanted)] != wanted:
            return self.package
        return "." * (1 + len(parts) - len(wanted))


def place_of(group: Group, facts: ProjectFacts) -> Place:
    """The directory of a group's module: its package, or where it starts."""
    files = (*group.files, *group.support)
    paths = [os.path.abspath(path) for path in files]
    roots = {root for path in files for root in _roots(path, facts)}
    alone = not roots
    if alone:
        roots = {_own_root(path, facts) for path in files}
    # The outermost directory from which every file can be named, in time.
    starting = _starting(group.files, facts)
    fitting = [
        root
        for root in sorted(roots)
        if all(_below(path, root) for path in paths)
        and not any(_comes_late(path, root, starting, facts) for path in files)
        and all(_finds(path, root, facts) for path in starting)
    ]
    if not fitting:
        # Where a script lies is on the search path before it runs.
        homes = {os.path.dirname(os.path.abspath(path)) for path in group.files}
        if len(homes) > 1:
            homes = _started_in(group.files, facts)
        if not 0 < len(homes) <= _MOST_HOMES:
            raise NoPlace("its files import each other from several directories")
        first, *others = sorted(homes)
        return Place(first, "", others=tuple(others))
    root = fitting[0]
    packages = {package for path in paths if (package := _package(path, root))}
    above, name = os.path.split(root)
    # Found by where they stand, whatever package is the outermost: the program may be
    # started with `python -m` inside of folders that look like packages.
    parsed = ((path, facts.parsed(path)) for path in files)
    relative = [path for path, one in parsed if one is not None and _is_relative(one)]
    if not packages and relative and {*map(os.path.dirname, paths)} == {root}:
        # A package without a file that says so: started with `python -m`.
        return Place(above, name, frozenset(paths))
    if not packages or len({package.split(".")[0] for package in packages}) > 1:
        looks_like_one = is_file(os.path.join(root, "__init__.py"))
        return Place(root, "", unsure=alone and looks_like_one)
    if relative:
        return Place(root, _shared(packages), _found_from(relative, facts))
    return Place(root, packages.pop().split(".")[0])


def _finds(path: str, root: str, facts: ProjectFacts) -> bool:
    """A program that starts in a file has a directory on its search path."""
    directory = os.path.dirname(path)
    if root in (directory, *facts.added_roots(directory)):
        return True
    roots = _roots(Path(path), facts)
    return root in roots or not roots


def _starting(paths: Iterable[Path], facts: ProjectFacts) -> set[str]:
    """All files that import these, however far, and are imported by none."""
    every = [*paths]
    every += facts.users(*every)
    return {os.path.abspath(path) for path in every if not facts.importers(path)}


def _started_in(paths: Iterable[Path], facts: ProjectFacts) -> set[str]:
    """The directories in which programs start that these files are part of."""
    starts = _starting(paths, facts)
    # What `python -m` starts inside of a package does not have its folder to search.
    if any(
        is_file(os.path.join(os.path.dirname(one), "__init__.py"))
        and os.path.dirname(one) not in _roots(Path(one), facts)
        for one in starts
    ):
        return set()
    return {os.path.dirname(one) for one in starts}


def _found_from(paths: Iterable[Path], facts: ProjectFacts) -> frozenset[str]:
    """Files that are imported relatively, which nobody else starts."""
    found: set[str] = set()
    for path in paths:
        parsed = facts.parsed(path)
        for use in parsed.resolver.scopes.imports if parsed is not None else ():
            node = use.node
            if not isinstance(node, cst.ImportFrom) or not node.relative:
                continue
            text = cst.Module([cst.SimpleStatementLine([node])]).code
            found.update(map(str, facts.imported_files(path, text.encode())))
    return frozenset(map(os.path.abspath, found))


def _shared(packages: Iterable[str]) -> str:
    """The innermost package that holds all of them."""
    paths = [package.replace(".", os.sep) for package in packages]
    return os.path.commonpath(paths).replace(os.sep, ".")


def _comes_late(path: Path, root: str, starting: set[str], facts: ProjectFacts) -> bool:
    """A directory that a file adds to its search path after it imports TensorFlow.

    Imports from the added modules stand where those of TensorFlow do. A file that
    adds nothing itself finds what the one that imports it has added.
    """
    directory = os.path.dirname(os.path.abspath(path))
    if root == directory or root not in facts.added_roots(directory):
        return False
    parsed = facts.parsed(path)
    if parsed is None:
        return True
    text = parsed.source.text
    added, imported = _ADDS.search(text), _IMPORTS.search(text)
    if added is None:
        return os.path.abspath(path) in starting
    return imported is not None and imported.start() < added.start()


def _below(path: str, root: str) -> bool:
    return os.path.commonpath([path, root]) == root


def _package(path: str, root: str) -> str:
    """The dotted name of a file's package below a root; empty where it has none."""
    folder = os.path.relpath(os.path.dirname(path), root)
    if folder == ".":
        return ""
    parts = folder.split(os.sep)
    for end in range(1, len(parts) + 1):
        if not is_file(os.path.join(root, *parts[:end], "__init__.py")):
            return ".".join(parts[: end - 1])
    return ".".join(parts)


def _own_root(path: Path, facts: ProjectFacts) -> str:
    """Where a file without imports from its project is started."""
    for user in facts.importers(path):
        found = _roots(user, facts)
        if found:
            return found[0]
    return os.path.dirname(os.path.abspath(path))


def _roots(path: Path, facts: ProjectFacts) -> list[str]:
    """The directories that a file's imports from its project start at."""
    parsed = facts.parsed(path)
    found: list[str] = []
    if parsed is None:
        return found
    for dotted, relative in _imported(parsed):
        if relative:
            found.append(facts.import_roots(path)[0])
            continue
        target = facts.locate(dotted, path)
        if target is not None:
            steps = dotted.count(".") + (target.name == "__init__.py")
            found.append(str(Path(os.path.abspath(target)).parents[steps]))
    return [*dict.fromkeys(found)]


def _imported(parsed: ParsedModule) -> Iterator[tuple[str, bool]]:
    for use in parsed.resolver.scopes.imports:
        node = use.node
        if isinstance(node, cst.ImportFrom):
            yield import_path(node.module), bool(node.relative)
        for dotted in imported_names(node):
            yield dotted, False


def _is_relative(parsed: ParsedModule) -> bool:
    return any(relative for _, relative in _imported(parsed))
