"""Names that statements of a function read and bind, and when these are known."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.blocked import Blocked
from ...code.source import Source
from ...code.tree import Statement, Tree, only_small, walk
from ...model.notes import Notes
from ...model.values import Time
from ...names.scopes import BindingKind
from .draws import draws
from .flow import bound_by, written_by
from .spelling import FLAGS, as_names, names_of, pairs_of


class Scope:
    """Some statements of a function."""

    def __init__(
        self,
        tree: Tree,
        defined: cst.FunctionDef,
        statements: Sequence[Statement],
        notes: Notes,
        # Names whose values only the call follows.
        changing: frozenset[str] = frozenset(),
    ) -> None:
        self.changing = changing
        self.tree = tree
        self.source = Source(tree, defined)
        self.notes = notes
        self.statements = list(statements)
        self.scope = tree.resolver.scopes.opened[defined]
        self.bound = {n for s in statements for n in self.binds(s)}
        # Attributes of objects that the statements set, by whatever they call.
        self.written = self._written()
        self.late = self._late_names()

    def binds(self, node: cst.CSTNode) -> set[str]:
        """Names that a statement binds."""
        return bound_by(node, self.notes)

    def _written(self) -> set[str]:
        found: set[str] = set()
        for statement in self.statements:
            found |= written_by(statement, self.notes)
            for one in self.notes.reached(statement):
                made = isinstance(one, cst.FunctionDef) and one.name.value == "__init__"
                found |= set() if made else written_by(one, self.notes)
        return found

    def reads_written(self, node: cst.CSTNode) -> str | None:
        """An attribute in code of the constructor that the call sets later."""
        for one in walk(node, cst.Attribute):
            if one.attr.value in self.written:
                return self.tree.code(one)
        return None

    def local(self, node: cst.Name) -> bool:
        """The name is one of the function's own, or the object that it belongs to.

        A class has another `self`: it is handed on, also from a function around.
        """
        found = self.tree.resolver.bindings(node)
        around = node.value == "self" and all(
            one.kind is BindingKind.PARAMETER for one in found
        )
        return any(one.scope is self.scope or around for one in found)

    def reads(self, node: cst.CSTNode) -> set[str]:
        """Names of the function that a piece of it reads."""
        loads = self.tree.resolver.scopes.loads
        return {
            one.value
            for one in walk(node, cst.Name)
            if one in loads and self.local(one)
        }

    def _late_names(self) -> set[str]:
        """Names that are bound in the graph, if only at times."""
        late: set[str] = set(self.changing)
        small = [
            node
            for statement in self.statements
            for node in walk(statement)
            if isinstance(
                node, (cst.SimpleStatementLine, cst.For, cst.With, cst.FunctionDef)
            )
        ]
        while True:
            found = set(late)
            for node in small:
                names = (
                    self.binds(node)
                    if not isinstance(node, cst.With)
                    else as_names(node)
                )
                if isinstance(node, cst.For):
                    for over, target in pairs_of(node.iter, node.target):
                        if self.notes.time(over) is Time.GRAPH:
                            found |= names_of(target)
                elif isinstance(node, cst.With):
                    found |= names
                elif isinstance(node, cst.FunctionDef):
                    found.add(node.name.value)
                elif names and (self._is_graph(node) or self.reads(node) & late):
                    found |= names
            if found == late:
                return late
            late = found

    def _is_graph(self, statement: cst.CSTNode) -> bool:
        for node in walk(statement):
            value: cst.BaseExpression | None = None
            if isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Expr)):
                value = node.value
            if value is None:
                continue
            if self.notes.makes(node) or self.reads_written(value):
                return True
            if draws(self.tree, value) or self._tells_flag(value):
                return True
            for one in walk(value):
                if (
                    isinstance(one, cst.BaseExpression)
                    and one in self.notes.values
                    and self.notes.time(one) is Time.GRAPH
                ):
                    return True
        return False

    def _tells_flag(self, value: cst.BaseExpression) -> bool:
        """A value chosen by the flag of training, or a dictionary with it."""
        if isinstance(value, cst.IfExp):
            return bool(self.reads(value.test) & {*FLAGS, "mode"})
        named = isinstance(value, cst.Call) and self.tree.code(value.func) == "dict"
        flags = self.reads(value) & {*FLAGS, "mode"}
        return bool(flags) and (named or isinstance(value, cst.Dict))

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where the statements cannot be taken apart."""
        return self.source.stop(node, reason)

    def reads_first(self, name: str) -> bool:
        """The value from before the statements may be read by them."""
        for statement in self.statements:
            if name in self.reads(statement):
                return True
            if name in self.binds(statement) and only_small(statement) is not None:
                return False
        return True

    def ordered(self, names: set[str]) -> list[str]:
        order = list(self.scope.bindings)
        return sorted(names, key=lambda n: order.index(n) if n in order else len(order))

    def outer_time(self, name: str) -> Time:
        """When a name that comes from outside is known."""
        loads = self.tree.resolver.scopes.loads
        found = Time.SETUP
        for statement in self.statements:
            for node in walk(statement, cst.Name):
                if (
                    node.value == name
                    and node in loads
                    and node in self.notes.values
                    and self.local(node)
                ):
                    found = max(found, self.notes.time(node))
        return found

    def reads_local(self, node: cst.Name) -> bool:
        loads = self.tree.resolver.scopes.loads
        return node in loads and self.local(node)
