"""One source module, taken apart: its top-level statements and what they use."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from ..project.parsing import parse
from ..project.positions import Regions
from ..symbols.dotted import import_path
from ..symbols.nodes import children, walk
from ..symbols.scope_builder import build_scopes
from ..symbols.scopes import Binding, BindingKind, Scope, ScopeKind
from .identifiers import mentioned, named_in_class
from .outline import Imported, absolute
from .sources import ModuleFile

__all__ = [
    "CannotBundle",
    "Imported",
    "Item",
    "Load",
    "Part",
    "read_module",
    "read_part",
]

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


class CannotBundle(Exception):
    """Some source cannot be copied; the text says why."""


@dataclass(eq=False)
class Item:
    """A top-level statement that may be copied."""

    part: Part
    index: int
    node: Statement
    names: tuple[str, ...]

    @property
    def is_simple(self) -> bool:
        """Whether it is one line of small statements, not a definition."""
        return isinstance(self.node, cst.SimpleStatementLine)


@dataclass(eq=False)
class Load:
    """A name read in an item, with the attributes taken of it.

    ``chain`` holds the nodes ``a``, ``a.b``, ``a.b.c`` of the expression; ``bound``
    is where the name comes from (None for built-in names), and ``hidden`` are the
    names that functions around it bind, which no new name may have.
    """

    chain: tuple[cst.Name | cst.Attribute, ...]
    bound: Binding | None
    hidden: frozenset[str]

    @property
    def name(self) -> str:
        """The name read."""
        root = self.chain[0]
        assert isinstance(root, cst.Name)
        return root.value


class Part:
    """A module of the sources, parsed."""

    def __init__(self, name: str, module: cst.Module, is_package: bool) -> None:
        self.name = name
        self.package = name if is_package else name.rpartition(".")[0]
        self.stem = name.rpartition(".")[2].lstrip("_")
        self.module = module
        self.scopes = build_scopes(module)
        self.doc = module.get_docstring() or ""
        self.items: list[Item] = []
        self.by_name: dict[str, list[Item]] = {}
        # Names may come from modules that are imported with ``*``.
        self.has_stars = bool(self.scopes.module_scope.star_imports)
        self.global_names: set[str] = set()
        for scope in self.scopes.opened.values():
            self.global_names |= scope.global_names
        self._chains = {
            use.root: _chain(use.node)
            for use in self.scopes.uses
            if use.root is not None
        }
        self._loads: dict[cst.CSTNode, list[Load]] = {}
        self._mentioned: dict[cst.CSTNode, set[str]] = {}
        self._read_statements()

    @functools.cached_property
    def regions(self) -> Regions:
        """Where everything of the module stands in its text."""
        return Regions(self.module)

    @property
    def text(self) -> str:
        """The text of the module."""
        return self.regions.text

    def _read_statements(self) -> None:
        names_of: dict[cst.CSTNode, set[str]] = {}
        guarded: set[cst.CSTNode] = set()
        tops: dict[cst.CSTNode, cst.CSTNode] = {}
        for statement in self.module.body:
            for node in walk(statement):
                tops[node] = statement
            if isinstance(statement, (cst.Try, cst.TryStar)):
                guarded.update(walk(statement))
        for name, bindings in self.scopes.module_scope.bindings.items():
            for binding in bindings:
                top = tops[binding.node]
                if binding.kind is BindingKind.IMPORT and binding.node not in guarded:
                    continue
                if top is binding.node or not isinstance(
                    top, (cst.FunctionDef, cst.ClassDef)
                ):
                    names_of.setdefault(top, set()).add(name)
        for index, line in enumerate(self.module.body):
            assert isinstance(
                line, (cst.SimpleStatementLine, cst.BaseCompoundStatement)
            )
            names = names_of.get(line, set()) | _declared(line)
            if _is_doc(line) or "__all__" in names or _imports_only(line):
                continue
            item = Item(self, index, line, tuple(sorted(names)))
            self.items.append(item)
            for name in names:
                self.by_name.setdefault(name, []).append(item)

    def imported(self, binding: Binding) -> Imported:
        """What an import binding stands for, by absolute names."""
        assert binding.target is not None
        node = binding.node
        if isinstance(node, cst.Import):
            # `import a.b` binds `a`, and loads `a.b`.
            dotted = [
                import_path(alias.name) for alias in node.names if alias.asname is None
            ]
            same = [name for name in dotted if name.split(".")[0] == binding.name]
            return Imported(same[0] if same else binding.target, None, binding.name)
        assert isinstance(node, cst.ImportFrom)
        module = absolute(self.package, import_path(node.module), binding.relative)
        return Imported(module, binding.target.rpartition(".")[2], binding.name)

    def loads(self, root: cst.CSTNode) -> Sequence[Load]:
        """The names read below a node that are not the node's own."""
        if root not in self._loads:
            self._loads[root] = list(self._read_loads(root))
        return self._loads[root]

    def mentioned(
        self, node: cst.CSTNode, left_out: Collection[cst.CSTNode] = ()
    ) -> set[str]:
        """The words below a node that may ask for a method.

        ``left_out`` are statements of the body where the node is a class.
        """
        if not left_out:
            if node not in self._mentioned:
                self._mentioned[node] = mentioned(node)
            return self._mentioned[node]
        assert isinstance(node, cst.ClassDef)
        found: set[str] = set()
        for below in children(node):
            if below is not node.body:
                found |= self.mentioned(below)
        for statement in node.body.body:
            if statement not in left_out:
                found |= self.mentioned(statement) | named_in_class(statement)
        return found

    def _read_loads(self, root: cst.CSTNode) -> Iterator[Load]:
        for node in walk(root):
            if node.__class__ is not cst.Name or node not in self.scopes.loads:
                continue
            assert isinstance(node, cst.Name)
            start, _ = self.scopes.loads[node]
            found, hidden = self._find(node.value, start)
            # A local name is of interest only where it is a module of ours.
            if (
                found is not None
                and found.scope.parent is not None
                and found.kind is not BindingKind.IMPORT
            ):
                continue
            yield Load(self._chains.get(node, (node,)), found, frozenset(hidden))

    def _find(self, name: str, start: Scope) -> tuple[Binding | None, set[str]]:
        """The last binding of a name, and every name bound around it."""
        hidden: set[str] = set()
        found: Binding | None = None
        scope: Scope | None = start
        if name in start.global_names:
            scope = start.module
        while scope is not None and scope.parent is not None:
            if scope is start or scope.kind is not ScopeKind.CLASS:
                hidden |= scope.bindings.keys() - {name}
                if found is None and name in scope.bindings:
                    found = scope.bindings[name][-1]
                    if found.kind is not BindingKind.IMPORT:
                        hidden.add(name)
            scope = scope.parent
        if found is None:
            bindings = self.scopes.module_scope.bindings.get(name)
            found = bindings[-1] if bindings else None
        return found, hidden


def _chain(node: cst.Name | cst.Attribute) -> tuple[cst.Name | cst.Attribute, ...]:
    """``a``, ``a.b``, ``a.b.c`` of the chain that ends in ``node``."""
    found: list[cst.Name | cst.Attribute] = [node]
    while isinstance(found[-1], cst.Attribute):
        below = found[-1].value
        assert isinstance(below, (cst.Name, cst.Attribute))
        found.append(below)
    return tuple(reversed(found))


def _is_doc(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(
            statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString)
        )
    )


def _imports_only(statement: cst.CSTNode) -> bool:
    """An import line, or ``if TYPE_CHECKING:`` above nothing but import lines."""
    if isinstance(statement, cst.SimpleStatementLine):
        return all(
            isinstance(small, (cst.Import, cst.ImportFrom)) for small in statement.body
        )
    return (
        isinstance(statement, cst.If)
        and statement.orelse is None
        and all(_imports_only(inner) for inner in statement.body.body)
    )


def _declared(statement: cst.CSTNode) -> set[str]:
    """The name of ``name: type`` without a value, which binds nothing."""
    if isinstance(statement, cst.SimpleStatementLine):
        return {
            small.target.value
            for small in statement.body
            if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name)
        }
    return set()


@functools.lru_cache(maxsize=256)
def read_module(file: Path) -> cst.Module:
    """What stands in a file; sources of ours do not change in a process."""
    if isinstance(file, ModuleFile):
        return file.module
    return parse(file.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=256)
def read_part(name: str, file: Path) -> Part:
    """The module ``name`` in ``file``."""
    return Part(name, read_module(file), file.name == "__init__.py")
