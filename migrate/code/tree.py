"""A module's syntax tree with the questions recognisers ask of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import cast

import libcst as cst

from ..names.nodes import Kind, parents, walk
from ..names.resolver import Resolver
from ..names.scopes import Binding, BindingKind
from ..project.positions import Places

__all__ = ["Body", "Statement", "Tree", "only_small", "statements_of", "walk"]

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Body = cst.Module | cst.IndentedBlock


def statements_of(body: Body) -> list[Statement]:
    """The statements directly in a body."""
    return cast("list[Statement]", list(body.body))


def only_small(statement: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The one small statement of a line, or None for anything else."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


class Tree:
    """Parents, positions and definitions of one parsed module."""

    def __init__(self, module: cst.Module, resolver: Resolver) -> None:
        assert module is resolver.module
        self.module = module
        self.resolver = resolver

    # Few modules hold a training program, so these are made when asked for.

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        return self.resolver.about(parents)

    @cached_property
    def _loads(self) -> dict[str, list[cst.Name]]:
        found: dict[str, list[cst.Name]] = {}
        for name in self.resolver.scopes.loads:
            found.setdefault(name.value, []).append(name)
        return found

    def each(self, *kinds: type[Kind]) -> Sequence[Kind]:
        """The nodes of some kinds, in source order."""
        return self.resolver.each(*kinds)

    @property
    def text(self) -> str:
        """The module's source."""
        return self._places.lines.text

    @cached_property
    def _places(self) -> Places:
        return self.resolver.about(Places)

    def _place(self, node: cst.CSTNode, end: int) -> tuple[int, int]:
        return self._places.lines.place(self._places[node][end])

    def line(self, node: cst.CSTNode) -> int:
        """Line of the node's first character, from 1."""
        return self._place(node, 0)[0]

    def column(self, node: cst.CSTNode) -> int:
        """Column of the node's first character, from 1."""
        return self._place(node, 0)[1]

    def end_line(self, node: cst.CSTNode) -> int:
        """Line of the node's last character, from 1."""
        return self._place(node, 1)[0]

    def holds(self, node: cst.CSTNode) -> bool:
        """The node is one of this tree, not of another file."""
        return node in self._parents

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node that holds this one, or None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The node's parents, innermost first."""
        found = self.parent(node)
        while found is not None:
            yield found
            found = self.parent(found)

    def statement(self, node: cst.CSTNode) -> Statement:
        """The innermost whole statement that holds the node."""
        for candidate in (node, *self.ancestors(node)):
            if isinstance(
                candidate, (cst.SimpleStatementLine, cst.BaseCompoundStatement)
            ):
                return candidate
        raise ValueError("the node is outside of any statement")

    def body(self, statement: cst.CSTNode) -> Body | None:
        """The list of statements a statement stands in."""
        found = self.parent(statement)
        return found if isinstance(found, (cst.Module, cst.IndentedBlock)) else None

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | cst.Lambda | None:
        """The innermost function that holds the node."""
        for candidate in self.ancestors(node):
            if type(candidate) is cst.FunctionDef or type(candidate) is cst.Lambda:
                return candidate
        return None

    def code(self, node: cst.CSTNode) -> str:
        """Source text of an expression."""
        if isinstance(node, cst.BaseExpression) and not node.lpar:
            written = self.excerpt(node)
            if written and "\n" not in written:
                return written
        return self.module.code_for_node(node).strip()

    def excerpt(self, node: cst.CSTNode) -> str:
        """What the file has from the first character of a node to its last."""
        if node not in self._places:
            return ""
        start, end = self._places[node]
        return self.text[start:end]

    def symbol(self, node: cst.CSTNode | None) -> str | None:
        """Canonical TensorFlow name of an expression, if it has one."""
        return self.resolver.resolve(node)

    def calls(self, root: cst.CSTNode, symbols: Sequence[str]) -> Iterator[cst.Call]:
        """Calls below ``root`` of any of the given canonical names."""
        every = root is self.module
        for node in self.each(cst.Call) if every else walk(root, cst.Call):
            if self.symbol(node.func) in symbols:
                yield node

    def loads(self, name: str) -> Sequence[cst.Name]:
        """Every place where the name is read."""
        return self._loads.get(name, ())

    def uses(self, binding: Binding) -> list[cst.Name]:
        """Every place where this binding may be read."""
        return [
            node
            for node in self.loads(binding.name)
            if any(found is binding for found in self.resolver.bindings(node))
        ]

    def loads_of(self, function: cst.FunctionDef) -> list[cst.Name]:
        """The places that read the name of a function and mean it, or may do so."""
        return [
            load
            for load in self.loads(function.name.value)
            if self.resolver.definition(load) is function
            or any(b.node is function for b in self.resolver.bindings(load))
        ]

    def calls_of(self, function: cst.FunctionDef) -> list[cst.Call] | None:
        """Calls of a function by its name; None where it is named for more."""
        found: list[cst.Call] = []
        for load in self.loads_of(function):
            call = self.parent(load)
            if not isinstance(call, cst.Call) or call.func is not load:
                return None
            found.append(call)
        return found

    def assigned(self, node: cst.BaseExpression | None) -> Binding | None:
        """The one plain assignment behind a name, or None."""
        if not isinstance(node, cst.Name):
            return None
        found = self.resolver.bindings(node)
        if len(found) == 1 and found[0].kind is BindingKind.ASSIGN:
            return found[0]
        return None

    def value(self, node: cst.BaseExpression | None) -> cst.BaseExpression | None:
        """The expression a name stands for, following single assignments."""
        for _ in range(12):
            binding = self.assigned(node)
            if binding is None or binding.value is None:
                return node
            node = binding.value
        return node
