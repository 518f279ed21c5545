"""How statements follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ..plan.code.statements import binds
from ..plan.code.tree import Statement, only_small, statements_of

__all__ = ["blocks", "surely_bound", "without_blocks"]


def blocks(statement: Statement) -> Iterator[cst.IndentedBlock]:
    """The blocks of a statement that are gone through one after the other."""
    if isinstance(statement, (cst.If, cst.With)):
        if isinstance(statement.body, cst.IndentedBlock):
            yield statement.body
        other = statement.orelse if isinstance(statement, cst.If) else None
        if isinstance(other, cst.If):
            yield from blocks(other)
        elif other is not None and isinstance(other.body, cst.IndentedBlock):
            yield other.body


def without_blocks(statement: Statement) -> cst.CSTNode:
    """The head of a statement, without its blocks."""
    if isinstance(statement, cst.If):
        return statement.test
    assert isinstance(statement, cst.With)
    return cst.Tuple([cst.Element(one.item) for one in statement.items])


def surely_bound(statements: Sequence[Statement]) -> set[str]:
    """Names that have a value behind some statements, whatever happens."""
    found: set[str] = set()
    for one in statements:
        if isinstance(one, cst.If):
            first = surely_bound(inner(one.body))
            other = one.orelse
            second: set[str] = set()
            if isinstance(other, cst.If):
                second = surely_bound([other])
            elif other is not None:
                second = surely_bound(inner(other.body))
            found |= first & second
        elif isinstance(one, (cst.With, cst.For)):
            found |= surely_bound(inner(one.body))
        elif isinstance(one, cst.FunctionDef) or only_small(one) is not None:
            found |= binds(one)
    return found


def inner(body: cst.BaseSuite) -> Sequence[Statement]:
    return statements_of(body) if isinstance(body, cst.IndentedBlock) else ()
