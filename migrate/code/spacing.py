"""Blank lines around generated definitions."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from .tree import Statement

__all__ = ["from_comment", "space_definitions", "with_blank_lines"]


def from_comment(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """The lines from the first comment on."""
    kept = list(lines)
    while kept and kept[0].comment is None:
        kept.pop(0)
    return kept


def with_blank_lines(statement: Statement, count: int) -> Statement:
    """The statement with exactly ``count`` blank lines before its comments."""
    lines = from_comment(statement.leading_lines)
    blank = [cst.EmptyLine(indent=False) for _ in range(count)]
    return statement.with_changes(leading_lines=[*blank, *lines])


def space_definitions(
    statements: Sequence[Statement], *, top_level: bool
) -> list[Statement]:
    """Definitions set off by two blank lines at module level, by one inside."""
    count = 2 if top_level else 1
    result: list[Statement] = []
    after = False
    for statement in statements:
        is_definition = isinstance(statement, (cst.FunctionDef, cst.ClassDef))
        if is_definition or after:
            statement = with_blank_lines(statement, count)
        result.append(statement)
        after = is_definition
    return result
