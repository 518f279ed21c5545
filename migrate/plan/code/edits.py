"""Edits of one module, collected first and applied in one pass.

Statements that no edit names come out byte for byte as they went in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import libcst as cst

from ...symbols.nodes import parents
from .tree import Statement, statements_of

__all__ = ["Changed", "Edits", "Statement"]

Changed = cst.CSTNode | cst.FlattenSentinel[cst.SimpleStatementLine]


@dataclass
class Edits:
    """What to change, keyed by nodes of the original tree.

    ``scoped`` holds the statements that go under ``with strategy.scope():``;
    neighbours share one block. ``replace`` gives the statements that stand in
    for one; ``before`` and ``after`` are put next to one.
    """

    expressions: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)
    nodes: dict[cst.CSTNode, Callable[[cst.CSTNode], Changed]] = field(
        default_factory=dict
    )
    replace: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    before: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    after: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    moved: dict[cst.CSTNode, list[cst.CSTNode]] = field(default_factory=dict)
    scoped: set[cst.CSTNode] = field(default_factory=set)
    # Statements whose replacement brings its own comments and blank lines.
    own_lines: set[cst.CSTNode] = field(default_factory=set)
    # Statements whose replacement ends in a definition.
    spaced: set[cst.CSTNode] = field(default_factory=set)
    # The expression after ``with``, as source text.
    scope: str = "strategy.scope()"

    def apply(self, module: cst.Module) -> cst.Module:
        """The edited module."""
        edited = module.visit(_Applier(self, _above(module, self.touched())))
        assert isinstance(edited, cst.Module)
        return edited

    def touched(self) -> set[cst.CSTNode]:
        """Nodes of the original tree that change, or get something beside them."""
        carried = (statement for moved in self.moved.values() for statement in moved)
        return {
            *self.expressions,
            *self.nodes,
            *self.replace,
            *self.before,
            *self.after,
            *self.moved,
            *carried,
            *self.scoped,
        }


def _above(module: cst.Module, touched: set[cst.CSTNode]) -> set[cst.CSTNode]:
    """The nodes that hold a touched one: the only ones worth a visit."""
    above = parents(module)
    found: set[cst.CSTNode] = {module}
    for node in touched:
        current = above.get(node)
        while current is not None and current not in found:
            found.add(current)
            current = above.get(current)
    return found


@dataclass
class _Item:
    statement: Statement
    scoped: bool


class _Applier(cst.CSTTransformer):
    def __init__(self, edits: Edits, above: set[cst.CSTNode]) -> None:
        self.edits = edits
        self.parent: cst.CSTNode | None = None
        self.above = above
        self.touched = {
            *edits.replace,
            *edits.before,
            *edits.after,
            *edits.scoped,
        }

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self.above

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT:
        edits = self.edits
        replaced = edits.expressions.get(original_node)
        if replaced is not None:
            return replaced  # type: ignore[return-value]
        change = edits.nodes.get(original_node)
        if change is not None:
            updated_node = change(updated_node)  # type: ignore[assignment]
        if isinstance(original_node, (cst.Module, cst.IndentedBlock)):
            assert isinstance(updated_node, (cst.Module, cst.IndentedBlock))
            self.parent = original_node
            body = self._body(statements_of(original_node), statements_of(updated_node))
            if body is not None:
                return updated_node.with_changes(body=body)  # type: ignore[return-value]
        return updated_node

    def _body(
        self, original: Sequence[Statement], updated: Sequence[Statement]
    ) -> list[Statement] | None:
        edits = self.edits
        if self.touched.isdisjoint(original):
            return None
        now = dict(zip(original, updated, strict=True))
        items: list[_Item] = []
        carried: list[cst.EmptyLine] = []
        spaced = 0

        def add(statements: Sequence[Statement], scoped: bool) -> None:
            for statement in statements:
                items.append(_Item(statement, scoped))

        for statement in original:
            lines = now[statement].leading_lines
            scoped = statement in edits.scoped
            mine: list[tuple[Statement, bool]] = []
            for moved in edits.moved.get(statement, ()):
                mine.append((now[moved], False))  # type: ignore[index]
            mine += [(s, False) for s in edits.before.get(statement, ())]
            if statement in edits.replace:
                new = list(edits.replace[statement])
                if new and not mine and statement not in edits.own_lines:
                    new[0] = _with_lines(new[0], (*lines, *new[0].leading_lines))
                elif not new and not _is_moved(edits, statement):
                    carried += _comments(lines)
                mine += [(s, scoped) for s in new]
            else:
                mine.append((now[statement], scoped))
            mine += [(s, scoped) for s in edits.after.get(statement, ())]
            mine = self._apart_from_definitions(mine)
            if mine and items and mine[0][0] is not now[statement]:
                above = (items[-1].statement, False)
                mine = self._apart_from_definitions([above, *mine])[1:]
            if mine and spaced:
                first, flag = mine[0]
                mine[0] = (_with_lines(first, _apart(first, spaced)), flag)
            spaced = 0
            if mine and statement in edits.spaced:
                spaced = 2 if isinstance(self.parent, cst.Module) else 1
                first, flag = mine[0]
                if items:
                    mine[0] = (_with_lines(first, _apart(first, spaced)), flag)
            if mine and carried:
                first, flag = mine[0]
                mine[0] = (_with_lines(first, (*carried, *first.leading_lines)), flag)
                carried = []
            for new_statement, flag in mine:
                add([new_statement], flag)
        return self._grouped(items)

    def _apart_from_definitions(
        self, statements: list[tuple[Statement, bool]]
    ) -> list[tuple[Statement, bool]]:
        """What follows a definition is set off from it."""
        count = 2 if isinstance(self.parent, cst.Module) else 1
        found = statements[:1]
        for (before, _), (statement, flag) in pairwise(statements):
            if isinstance(before, (cst.FunctionDef, cst.ClassDef)):
                statement = _with_lines(statement, _apart(statement, count))
            found.append((statement, flag))
        return found

    def _grouped(self, items: Sequence[_Item]) -> list[Statement]:
        result: list[Statement] = []
        group: list[Statement] = []

        def close() -> None:
            if not group:
                return
            lines = group[0].leading_lines
            group[0] = _with_lines(group[0], ())
            result.append(
                cst.With(
                    items=[cst.WithItem(cst.parse_expression(self.edits.scope))],
                    body=cst.IndentedBlock(body=list(group)),
                    leading_lines=list(lines),
                )
            )
            group.clear()

        for item in items:
            if item.scoped:
                group.append(_without_trailing_space(item.statement))
            else:
                close()
                result.append(item.statement)
        close()
        return result


def _apart(statement: Statement, count: int) -> list[cst.EmptyLine]:
    """The statement's lines above, with at least ``count`` blank ones first."""
    lines = list(statement.leading_lines)
    blank = next((i for i, x in enumerate(lines) if x.comment), len(lines))
    missing = max(count - blank, 0)
    return [*[cst.EmptyLine(indent=False)] * missing, *lines]


def _without_trailing_space(statement: Statement) -> Statement:
    """Blank lines that move into a block must not become lines of spaces."""
    lines = [
        line if line.comment is not None else line.with_changes(indent=False)
        for line in statement.leading_lines
    ]
    return _with_lines(statement, lines)


def _is_moved(edits: Edits, statement: cst.CSTNode) -> bool:
    """A statement that goes elsewhere takes its comments along."""
    return any(statement in moved for moved in edits.moved.values())


def _with_lines(statement: Statement, lines: Sequence[cst.EmptyLine]) -> Statement:
    return statement.with_changes(leading_lines=list(lines))


def _comments(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """The lines of a statement that goes: kept when they hold a comment."""
    if not any(line.comment is not None for line in lines):
        return []
    return list(lines)
