"""Edits of one module, collected first and applied in one pass.

Statements that no edit names come out byte for byte as they went in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import libcst as cst

from ..names.nodes import parents
from ..project.facts import ParsedModule, ProjectFacts
from ..project.positions import code_of
from .tree import Statement, statements_of

Expression = TypeVar("Expression", bound=cst.BaseExpression)
Changed = cst.CSTNode | cst.FlattenSentinel[cst.SimpleStatementLine]


class Put(cst.CSTTransformer):
    """Puts others in the places of nodes: a node, a list of nodes, or None for nothing.

    A function makes of the node, with what was put inside, what comes in its place.
    """

    def __init__(self, places: Mapping[Any, Any], root: cst.CSTNode) -> None:
        self.places = places
        self.parents = parents(root)
        self.above = _above(self.parents, root, places)

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self.above

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Any:
        if original_node not in self.places:
            return updated_node
        new = self.places[original_node]
        new = new(updated_node) if callable(new) else new
        if new is None:
            return cst.RemoveFromParent()
        if isinstance(new, cst.BaseExpression):
            return _fitting(new, original_node, self.parents.get(original_node))
        return cst.FlattenSentinel(new) if isinstance(new, list) else new


_OPERATORS = (
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.IfExp,
)
# Expressions that what stands beside them may tear apart, and what does.
_LOOSE = (*_OPERATORS, cst.Lambda, cst.NamedExpr, cst.Await)
_TIGHT = (*_OPERATORS, cst.ComparisonTarget, cst.Attribute, cst.StarredElement)


def _fitting(
    new: cst.BaseExpression, old: cst.CSTNode, parent: cst.CSTNode | None
) -> cst.BaseExpression:
    """An expression in the place of another, in parentheses where these hold it."""
    called = isinstance(parent, (cst.Call, cst.Subscript)) and old in (
        getattr(parent, "func", None),
        getattr(parent, "value", None),
    )
    if new.lpar or not isinstance(old, cst.BaseExpression):
        return new
    if isinstance(new, cst.Tuple):
        whole = isinstance(parent, (cst.Assign, cst.AssignTarget, cst.Return, cst.For))
        around = not whole and not isinstance(parent, (cst.Index, cst.CompFor))
    else:
        around = isinstance(new, _LOOSE) and (called or isinstance(parent, _TIGHT))
    if not around:
        return new
    return in_parentheses(new)


def in_parentheses(node: Expression) -> Expression:
    """An expression in parentheses."""
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def importing(
    line: cst.ImportFrom, names: Iterable[cst.ImportAlias]
) -> cst.ImportFrom | None:
    """An import of some names of its module; None if these are none."""
    kept = [*names]
    for last in kept[-1:]:
        kept[-1] = last.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(names=kept) if kept else None


def changed(
    parsed: ParsedModule,
    facts: ProjectFacts,
    change: str | cst.CSTTransformer | Mapping[Any, Any] | Edits,
) -> ParsedModule:
    """Returns a file with another text, or with others in the places of nodes."""
    if isinstance(change, Mapping):
        change = Put(change, parsed.module)
    elif isinstance(change, Edits):
        change = _Applier(change, parsed.module)
    if not isinstance(change, str):
        change = code_of(parsed.module.visit(change))
    if change == parsed.source.text:
        return parsed
    return facts.module_of(parsed.source.with_text(change))


@dataclass
class Edits:
    """What to change, keyed by nodes of the original tree.

    ``nodes`` says how a node changes, ``replace`` which statements stand in for one,
    ``before`` which are put above one.
    """

    nodes: dict[cst.CSTNode, Callable[[cst.CSTNode], Changed]] = field(
        default_factory=dict
    )
    replace: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    before: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    # Statements whose replacement ends in a definition.
    spaced: set[cst.CSTNode] = field(default_factory=set)

    def touched(self) -> set[cst.CSTNode]:
        """Nodes of the original tree that change, or get something beside them."""
        return {*self.nodes, *self.replace, *self.before}


def _above(
    above: Mapping[cst.CSTNode, cst.CSTNode],
    root: cst.CSTNode,
    touched: Iterable[cst.CSTNode],
) -> set[cst.CSTNode]:
    """The nodes that hold a touched one: the only ones worth a visit."""
    found: set[cst.CSTNode] = {root}
    for node in touched:
        current = above.get(node)
        while current is not None and current not in found:
            found.add(current)
            current = above.get(current)
    return found


class _Applier(cst.CSTTransformer):
    def __init__(self, edits: Edits, module: cst.Module) -> None:
        self.edits = edits
        self.above = _above(parents(module), module, edits.touched())
        self.touched = {*edits.replace, *edits.before}
        # Blank lines around definitions: two at the top, one inside.
        self.apart = 1

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self.above

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT:
        change = self.edits.nodes.get(original_node)
        if change is not None:
            updated_node = change(updated_node)  # type: ignore[assignment]
        if isinstance(original_node, (cst.Module, cst.IndentedBlock)):
            assert isinstance(updated_node, (cst.Module, cst.IndentedBlock))
            self.apart = 2 if isinstance(original_node, cst.Module) else 1
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
        result: list[Statement] = []
        carried: list[cst.EmptyLine] = []
        spaced = False
        for statement, now in zip(original, updated, strict=True):
            lines = now.leading_lines
            mine = list(edits.before.get(statement, ()))
            if statement in edits.replace:
                new = list(edits.replace[statement])
                if new and not mine:
                    new[0] = _with_lines(new[0], (*lines, *new[0].leading_lines))
                elif not new:
                    carried += _comments(lines)
                mine += new
            else:
                mine.append(now)
            mine = self._apart_from_definitions(mine)
            if mine and result and mine[0] is not now:
                mine = self._apart_from_definitions([result[-1], *mine])[1:]
            if mine and spaced:
                mine[0] = _with_lines(mine[0], _apart(mine[0], self.apart))
            spaced = bool(mine) and statement in edits.spaced
            if spaced and result:
                mine[0] = _with_lines(mine[0], _apart(mine[0], self.apart))
            if mine and carried:
                mine[0] = _with_lines(mine[0], (*carried, *mine[0].leading_lines))
                carried = []
            result += mine
        return result

    def _apart_from_definitions(self, statements: list[Statement]) -> list[Statement]:
        """What follows a definition is set off from it."""
        found = statements[:1]
        for before, statement in pairwise(statements):
            if isinstance(before, (cst.FunctionDef, cst.ClassDef)):
                statement = _with_lines(statement, _apart(statement, self.apart))
            found.append(statement)
        return found


def _apart(statement: Statement, count: int) -> list[cst.EmptyLine]:
    """The statement's lines above, with at least ``count`` blank ones first."""
    lines = list(statement.leading_lines)
    blank = next((i for i, x in enumerate(lines) if x.comment), len(lines))
    missing = max(count - blank, 0)
    return [*[cst.EmptyLine(indent=False)] * missing, *lines]


def _with_lines(statement: Statement, lines: Sequence[cst.EmptyLine]) -> Statement:
    return statement.with_changes(leading_lines=list(lines))


def _comments(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """The lines of a statement that goes: kept when they hold a comment."""
    if not any(line.comment is not None for line in lines):
        return []
    return list(lines)
