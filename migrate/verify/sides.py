"""What a path on the command line is: a program, a recording, a run directory."""

from __future__ import annotations

import ast
import enum
import os
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmigrate.compat.notebooks import Notebook, NotebookError

from ..errors import UserError, missing
from ..names.ast_nodes import walk as walk_ast
from .recording import is_recording

if TYPE_CHECKING:
    from ..project.facts import ProjectFacts


class Kind(enum.Enum):
    """What can be compared."""

    LEGACY = "legacy program"
    TF2 = "TF2 program"
    RECORDING = "recording"
    RUN = "run directory"


@dataclass(frozen=True)
class Side:
    """One of the two things to compare."""

    path: Path
    kind: Kind
    # Reads tf.keras.datasets.fashion_mnist, so the data can be put in its way.
    fashion_mnist: bool = False
    # The folder that the imports of the program's package start from.
    root: Path | None = None
    # Set when the program runs as a module of that package.
    module: str | None = None
    # Where the program is run; None for where this command is.
    folder: Path | None = None

    @property
    def is_program(self) -> bool:
        """Whether this side can be run (and run again)."""
        return self.kind in (Kind.LEGACY, Kind.TF2)


# Enough to find out what a program is; a tree of thousands would take minutes.
_MOST_NEIGHBOURS = 300

# Whoever names one of these trains through the Estimator API.
LEGACY_NAMES = frozenset(
    {"estimator", "contrib", "tensorflow_estimator", "model_to_estimator", "Experiment"}
)


def look_at(path: Path, module: str | None = None) -> Side:
    """Tell what ``path`` is, without importing or running anything.

    With ``module``, a folder is where that module is run, as ``python -m`` would.
    """
    if not path.exists():
        raise missing(path)
    if path.is_dir() and module is not None and not is_recording(path):
        side = look_at(_file_of(module, path))
        return replace(side, root=path, module=module, folder=path)
    if module is not None and not path.is_dir():
        raise UserError(f"{path}: with -m, name the folder that holds the package")
    if path.is_dir():
        if is_recording(path):
            return Side(path, Kind.RECORDING)
        if any(path.rglob("events.out.tfevents.*")) or (path / "checkpoint").is_file():
            return Side(path, Kind.RUN)
        raise UserError(
            f"{path}: neither a recording nor a run directory",
            hint="name the script that trains, or say what runs in both folders: "
            "-m MODULE, or -- python SCRIPT",
        )
    if path.suffix not in (".py", ".ipynb"):
        raise UserError(
            f"{path}: not a Python script or notebook",
            hint="name a .py or .ipynb file that trains",
        )
    text = program_text(path)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UserError(
            f"{path}:{error.lineno}: not Python 3: {error.msg}",
            hint="Python 2 programs must be converted first, for instance with 2to3",
        ) from error
    # Not in the process of a program, which asks this module for its text alone.
    from ..project.facts import ProjectFacts

    facts = ProjectFacts()
    name, _ = facts.module_name(path)
    root = Path(facts.import_roots(path)[0]) if "." in name else None
    relative = any(node.level for node in walk_ast(tree, ast.ImportFrom))
    legacy = _is_legacy(tree) or any(map(_is_legacy, _neighbours(path, facts)))
    return Side(
        path,
        Kind.LEGACY if legacy else Kind.TF2,
        fashion_mnist="fashion_mnist" in text,
        root=root,
        # Only a module of its package can say `from . import model`.
        module=name if root is not None and relative else None,
    )


@dataclass(frozen=True)
class Command:
    """A command that starts a Python program, such as `python -m pkg.main --fast`."""

    script: str | None
    module: str | None
    arguments: tuple[str, ...]
    env: Mapping[str, str]

    @staticmethod
    def read(words: Sequence[str]) -> Command | None:
        """The command of these words; None when they are arguments of a program."""
        rest, env = list(words), {}
        while rest and _ASSIGNMENT.fullmatch(rest[0]):
            name, _, env[name] = rest.pop(0).partition("=")
        if not rest:
            return None
        if rest[0].endswith(".py"):
            return Command(rest[0], None, tuple(rest[1:]), env)
        if not _PYTHON.fullmatch(rest.pop(0)):
            return None
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            # Options of the interpreter; two of them take a word.
            option = rest.pop(0)
            if option in ("-W", "-X") and rest:
                rest.pop(0)
        if len(rest) > 1 and rest[0] == "-m":
            return Command(None, rest[1], tuple(rest[2:]), env)
        if rest and rest[0] != "-m":
            return Command(rest[0], None, tuple(rest[1:]), env)
        return None


_PYTHON = re.compile(r"(.*/)?python[\d.]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")


def project_side(tree: Path, command: Command) -> Side:
    """What a command runs in a tree, where it is run as well."""
    if not tree.is_dir():
        raise UserError(f"{tree}: no such directory")
    if command.module is not None:
        return look_at(tree, command.module)
    script = Path(command.script or "")
    if script.is_absolute():
        raise UserError(
            f"{script}: name the script as it is called in both trees, not by one path"
        )
    if not (tree / script).is_file():
        raise UserError(f"{tree}: there is no {script}, which the command runs")
    return replace(look_at(tree / script), folder=tree)


def _file_of(module: str, folder: Path) -> Path:
    """The file that ``python -m MODULE`` runs in a folder."""
    place = folder.joinpath(*module.split("."))
    for file in (place.with_suffix(".py"), place / "__main__.py"):
        if file.is_file():
            return file
    raise UserError(
        f"{folder}: there is no module {module} to run",
        hint=f"it would be {place.relative_to(folder)}.py there",
    )


def program_text(path: Path) -> str:
    """The program's source; of a notebook its code cells without magics."""
    try:
        if path.suffix != ".ipynb":
            with tokenize.open(path) as stream:
                return stream.read()
        return str(Notebook.parse(path.read_bytes()).plain_python())
    except (OSError, SyntaxError, ValueError, NotebookError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error


def _is_legacy(tree: ast.AST) -> bool:
    modules = set()
    for node in walk_ast(tree, ast.Import, ast.ImportFrom):
        base = (getattr(node, "module", None) or "").split(".")
        for alias in node.names:
            modules.add(alias.asname or alias.name.partition(".")[0])
            parts = {*base, *alias.name.split(".")}
            if "tensorflow_estimator" in parts or {"tfmigrate", "compat"} <= parts:
                return True
            if "tensorflow" in parts and parts & LEGACY_NAMES:
                return True
    for named in walk_ast(tree, ast.Attribute):
        if named.attr in LEGACY_NAMES:
            # An attribute of the program's own objects may have such a name too.
            root: ast.expr = named
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in modules:
                return True
    return False


def _neighbours(path: Path, facts: ProjectFacts) -> Iterator[ast.AST]:
    """Modules of the project that a script reaches by imports."""
    seen = [os.path.abspath(path)]
    for each in seen:
        with suppress(OSError, SyntaxError, UserError):
            reached = facts.imported(each, Path(each).read_bytes())
            seen += [further for further in reached if further not in seen]
            if each != seen[0]:
                yield ast.parse(program_text(Path(each)))
        if len(seen) > _MOST_NEIGHBOURS:
            return
