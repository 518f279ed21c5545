"""Names that statements read and assign, and the slices that follow from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from .tree import Statement, Tree, only_small, statements_of, walk

__all__ = [
    "assigned",
    "backward_slice",
    "flat",
    "is_docstring",
    "latest",
    "names_in",
    "ordered",
]


def latest(
    tree: Tree, statements: Sequence[Statement], node: cst.BaseExpression | None
) -> cst.BaseExpression | None:
    """What a name stands for after the statements of one mode."""
    if isinstance(node, cst.Name):
        for statement in reversed(list(flat(statements))):
            small = only_small(statement)
            if isinstance(small, cst.Assign) and assigned(statement) == [node.value]:
                return small.value
    return tree.value(node)


def flat(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements, and those inside ``with`` blocks."""
    for statement in statements:
        yield statement
        if isinstance(statement, cst.With) and isinstance(
            statement.body, cst.IndentedBlock
        ):
            yield from flat(statements_of(statement.body))


def is_docstring(statement: Statement) -> bool:
    small = only_small(statement)
    return isinstance(small, cst.Expr) and isinstance(
        small.value, (cst.SimpleString, cst.ConcatenatedString)
    )


def assigned(statement: cst.CSTNode) -> list[str]:
    small = statement
    if isinstance(statement, cst.SimpleStatementLine):
        small = only_small(statement) or statement
    found: list[str] = []
    if isinstance(small, cst.Assign):
        for target in small.targets:
            found += [n.value for n in walk(target.target) if isinstance(n, cst.Name)]
    return found


def ordered(statements: Sequence[Statement]) -> list[str]:
    return [name for statement in statements for name in assigned(statement)]


def names_in(code: str) -> set[str]:
    if not code:
        return set()
    return {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name)}


def backward_slice(
    tree: Tree, statements: Sequence[Statement], wanted: set[str]
) -> list[Statement]:
    """The statements that make the wanted names, and what these need."""
    chosen: list[Statement] = []
    wanted = set(wanted)
    for statement in reversed(statements):
        if any(name in wanted for name in assigned(statement)):
            chosen.append(statement)
            small = only_small(statement)
            if isinstance(small, cst.Assign):
                wanted |= {
                    n.value
                    for n in walk(small.value)
                    if isinstance(n, cst.Name) and n in tree.resolver.scopes.loads
                }
    return chosen[::-1]
