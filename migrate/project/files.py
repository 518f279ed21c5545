"""Which files a command looks at: directory walk, ignores, byte prefilter."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pathspec

from ..errors import UserError, missing
from .reading import read_file

# In the docstring of modules that a rewrite adds to a project.
WRITTEN_HERE = "written by `tfmigrate rewrite` as a part of this project."
_DOCSTRING = re.compile(r'''(?:\s|#[^\n]*\n)*"""(.*?)"""''', re.DOTALL)
# Directories that hold other people's code or no code at all.
_SKIPPED = """
.git .hg .svn .tfmigrate .tox .nox .venv venv .eggs .mypy_cache .pytest_cache
.ruff_cache .ipynb_checkpoints __pycache__ node_modules
"""
SKIPPED_DIRECTORIES = frozenset(_SKIPPED.split())

# Only datasets of TensorFlow 1 were ever asked for an iterator in these words.
ITERATOR_CALL = rb"\.make_(?:one_shot|initializable)_iterator\("

# What must occur in a file before it is worth a parse. Every door to TensorFlow
# but a project module that re-exports it contains the first of these words;
# ProjectFacts adds the files that import such a module. A file that is handed data
# may name none of its own, but methods that no data has any more.
_LEGACY = re.compile(rb"tensorflow|tfmigrate|" + ITERATOR_CALL)


_REQUIREMENTS = re.compile(
    r"(?:requirements|constraints|environment)[\w.-]*\.(?:txt|in|ya?ml)"
    r"|setup\.cfg|pyproject\.toml|Dockerfile[\w.-]*|[\w.-]+\.Dockerfile"
)


def holds_requirements(name: str) -> bool:
    """Whether a file of this name lists packages to install."""
    return _REQUIREMENTS.fullmatch(name) is not None


@dataclass(frozen=True)
class Candidate:
    """A file to look at and the name it is reported under."""

    path: Path
    shown: Path
    named: bool = False  # given on the command line itself


def from_here(path: Path) -> Path:
    """The same file, named from the present folder when it lies below that."""
    if path.is_absolute():
        with contextlib.suppress(ValueError):
            return path.relative_to(os.getcwd())
    return path


def is_ours(text: str | bytes) -> bool:
    """Whether a module is one that a rewrite added to the project, by its docstring."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace") if b"tfmigrate" in text else ""
    found = _DOCSTRING.match(text)
    return found is not None and WRITTEN_HERE in found[1]


def mentions_legacy(content: bytes) -> bool:
    """Whether a file can have anything to do with TensorFlow at all."""
    return _LEGACY.search(content) is not None


def project_root(paths: Sequence[Path]) -> Path:
    """The directory that holds version control or pyproject.toml, else the parent.

    The journal and the lock live there, so that ``undo`` finds them from any of
    the project's directories.
    """
    # Path.resolve() fails on links that lead in a circle.
    resolved = [os.path.realpath(p) for p in paths] or [os.getcwd()]
    start = Path(os.path.commonpath(resolved))
    if not start.is_dir():
        start = start.parent
    for directory in (start, *start.parents):
        if any(
            (directory / marker).exists()
            for marker in (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
        ):
            return directory
    return start


class _Ignores:
    """The .gitignore files between a tree's root and the directory walked."""

    def __init__(self, root: Path, exclude: Sequence[str]) -> None:
        self.root = root
        self.specs: dict[str, pathspec.GitIgnoreSpec | None] = {}
        self.exclude = _patterns(exclude, strict=True) if exclude else None

    def spec(self, directory: str) -> pathspec.GitIgnoreSpec | None:
        if directory not in self.specs:
            file = os.path.join(directory, ".gitignore")
            self.specs[directory] = None
            if os.path.isfile(file):  # reading a pipe would wait for ever
                with contextlib.suppress(OSError):
                    text = read_file(file).decode("utf-8", "replace")
                    self.specs[directory] = _patterns(text.splitlines(), strict=False)
        return self.specs[directory]

    def chain(self, directory: Path) -> list[tuple[str, pathspec.GitIgnoreSpec]]:
        """The specs that apply below ``directory``, from the outermost on."""
        found = []
        top = _repository(directory)
        parts = [directory, *directory.parents]
        for parent in reversed(parts):
            if top is None or (parent != top and top not in parent.parents):
                continue
            spec = self.spec(str(parent))
            if spec is not None:
                found.append((str(parent), spec))
        return found


def _patterns(lines: Sequence[str], *, strict: bool) -> pathspec.GitIgnoreSpec:
    """The patterns of --exclude or pyproject.toml; or, not strict, of a .gitignore.

    Git takes no notice of bad ones either.
    """
    good = []
    for line in lines:
        try:
            pathspec.GitIgnoreSpec.from_lines([line])
            good.append(line)
        except ValueError:
            if strict:
                raise UserError(
                    f"exclude: {line!r} is no pattern", hint="see `git help ignore`"
                ) from None
    return pathspec.GitIgnoreSpec.from_lines(good)


def _repository(directory: Path) -> Path | None:
    for parent in (directory, *directory.parents):
        if (parent / ".git").exists():
            return parent
    return None


def find_files(
    paths: Iterable[Path], *, exclude: Sequence[str] = ()
) -> Iterator[Candidate]:
    """The files to look at, sorted, each once.

    A file named on the command line is always taken; directories are walked
    without following links, leaving out what .gitignore or ``exclude`` (same
    syntax) leave out.
    """
    seen: set[str] = set()
    for path in paths:
        if not path.exists():
            raise missing(path)
        if path.is_dir():
            for found in _walk(path, exclude):
                key = os.path.abspath(found)
                if key not in seen:
                    seen.add(key)
                    yield Candidate(Path(found), Path(found))
        elif not path.is_file():
            raise UserError(
                f"{path} is no regular file", hint="`-` reads a program from stdin"
            )
        else:
            key = os.path.abspath(path)
            if key not in seen:
                seen.add(key)
                yield Candidate(path, path, named=True)


def _walk(top: Path, exclude: Sequence[str]) -> Iterator[str]:
    ignores = _Ignores(top, exclude)
    absolute_top = os.path.abspath(top)
    in_repository = _repository(Path(absolute_top)) is not None
    specs = ignores.chain(Path(absolute_top))
    if _is_ignored_itself(absolute_top, specs, ignores):
        # The user named an ignored directory: then what is inside is wanted.
        own = ignores.spec(absolute_top)
        specs = [(absolute_top, own)] if own is not None else []
    stack = [(str(top), absolute_top, specs)]
    while stack:
        shown, absolute, specs = stack.pop()
        try:
            entries = sorted(os.scandir(absolute), key=lambda entry: entry.name)
        except OSError:
            # Told as a file that cannot be read: what is in it was not looked at.
            yield shown
            continue
        names = {entry.name for entry in entries}
        if absolute != absolute_top:
            if "pyvenv.cfg" in names:  # a virtual environment, whatever its name
                continue
            if in_repository and ".gitignore" in names:
                own = ignores.spec(absolute)
                if own is not None:
                    specs = [*specs, (absolute, own)]
        plain = not specs and ignores.exclude is None
        files: list[str] = []
        directories = []
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name in SKIPPED_DIRECTORIES:
                    continue
                if plain or not _ignored(
                    entry.path, True, specs, ignores, absolute_top
                ):
                    directories.append((os.path.join(shown, name), entry.path, specs))
            elif name.endswith((".py", ".ipynb")) or holds_requirements(name):
                if entry.is_symlink() and not _inside(entry.path, absolute_top):
                    continue
                if not entry.is_file():
                    continue
                if plain or not _ignored(
                    entry.path, False, specs, ignores, absolute_top
                ):
                    files.append(os.path.join(shown, name))
        yield from files
        stack.extend(reversed(directories))


def _is_ignored_itself(
    directory: str, specs: list[tuple[str, pathspec.GitIgnoreSpec]], ignores: _Ignores
) -> bool:
    """Whether a directory or one above it is left out by files further up."""
    parents = [directory, *(str(parent) for parent in Path(directory).parents)]
    return any(
        _ignored(path, True, above, ignores, directory)
        for path in parents
        if (above := [s for s in specs if path != s[0] and path.startswith(s[0])])
    )


def _inside(path: str, top: str) -> bool:
    """Whether a link leads to a place inside the tree."""
    target = os.path.realpath(path)
    return target.startswith(os.path.realpath(top) + os.sep)


def _ignored(
    path: str,
    is_dir: bool,
    specs: list[tuple[str, pathspec.GitIgnoreSpec]],
    ignores: _Ignores,
    top: str,
) -> bool:
    if ignores.exclude is not None:
        relative = os.path.relpath(path, top).replace(os.sep, "/")
        if ignores.exclude.match_file(relative + "/" if is_dir else relative):
            return True
    ignored = False
    for base, spec in specs:
        relative = os.path.relpath(path, base).replace(os.sep, "/")
        result = spec.check_file(relative + "/" if is_dir else relative)
        if result.include is not None:
            ignored = result.include
    return ignored
