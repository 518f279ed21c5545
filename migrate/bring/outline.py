"""What a source module binds, told from Python's own syntax tree.

Most modules of ours are only passed through on the way to a definition. Python's
parser takes a tenth of the time that a tree for editing takes.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Imported", "Outline", "absolute", "read_outline"]


_GUARDS = (ast.Try, getattr(ast, "TryStar", ast.Try))


@dataclass(frozen=True, order=True)
class Imported:
    """``import module as name`` (no attribute) or ``from module import attribute``.

    ``preferred`` is the name it had in the source.
    """

    module: str
    attribute: str | None
    preferred: str = field(compare=False)

    @property
    def path(self) -> str:
        """What the import names, as one dotted path."""
        return f"{self.module}.{self.attribute}" if self.attribute else self.module


@dataclass
class Outline:
    """The names of a module at its top level."""

    package: str
    # Names of definitions, values and of what a ``try`` imports.
    defined: set[str] = field(default_factory=set)
    # Those that are the names of classes, where they are defined last.
    classes: set[str] = field(default_factory=set)
    # What stands behind ``name = a.dotted.path``, where that defines a name last.
    aliases: dict[str, str] = field(default_factory=dict)
    imports: dict[str, Imported] = field(default_factory=dict)
    # Imported for annotations only.
    typing_only: set[str] = field(default_factory=set)
    # Modules whose names are imported by ``*``, the last one first.
    stars: list[str] = field(default_factory=list)
    # The names that ``__all__`` lists, or None where it is computed.
    exported: frozenset[str] | None = None


def absolute(package: str, module: str, relative: int) -> str:
    """The full name of a module that an import in a package names."""
    if not relative:
        return module
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - relative + 1])
    return ".".join(filter(None, (base, module)))


@functools.lru_cache(maxsize=1024)
def read_outline(name: str, file: Path) -> Outline:
    """The outline of a module; sources of ours do not change in a process."""
    is_package = file.name == "__init__.py"
    outline = Outline(name if is_package else name.rpartition(".")[0])
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        names = set()
        for node in _outside_of_scopes(statement):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.ExceptHandler) and node.name is not None:
                names.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for bound, imported in _imported(node, outline):
                    if isinstance(statement, _GUARDS):
                        names.add(bound)
                        continue
                    outline.imports[bound] = imported
                    if isinstance(statement, ast.If):
                        outline.typing_only.add(bound)
        if "__all__" in names:
            outline.exported = _listed(statement)
        else:
            _define(outline, names, statement)
    return outline


def _define(outline: Outline, names: set[str], statement: ast.stmt) -> None:
    """Note the names that a statement defines, instead of what they were before."""
    outline.defined |= names
    outline.classes -= names
    for name in names:
        outline.aliases.pop(name, None)
    if isinstance(statement, ast.ClassDef):
        outline.classes.add(statement.name)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, path = statement.targets[0], _dotted(statement.value)
        if isinstance(target, ast.Name) and path is not None:
            outline.aliases[target.id] = path


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def _outside_of_scopes(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement and what is in it, but not in scopes of its own."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop(0)
        yield node
        if not isinstance(
            node,
            (
                ast.FunctionDef,
                ast.AsyncFunctionDef,
                ast.ClassDef,
                ast.Lambda,
                ast.ListComp,
                ast.SetComp,
                ast.DictComp,
                ast.GeneratorExp,
            ),
        ):
            pending[:0] = ast.iter_child_nodes(node)


def _imported(
    node: ast.Import | ast.ImportFrom, outline: Outline
) -> Iterator[tuple[str, Imported]]:
    """The names that an import binds, with what they stand for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield bound, Imported(alias.name, None, bound)
        return
    module = absolute(outline.package, node.module or "", node.level)
    for alias in node.names:
        if alias.name == "*":
            outline.stars.insert(0, module)
        else:
            bound = alias.asname or alias.name
            yield bound, Imported(module, alias.name, bound)


def _listed(statement: ast.stmt) -> frozenset[str] | None:
    value = (
        statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    )
    if not isinstance(value, (ast.List, ast.Tuple)):
        return None
    names = [one.value for one in value.elts if isinstance(one, ast.Constant)]
    if len(names) != len(value.elts):
        return None
    return frozenset(str(name) for name in names)
