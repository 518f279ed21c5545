"""Blank lines around generated definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from ..names.ast_nodes import tree_of
from ..names.ast_nodes import walk as walk_ast
from .tree import Statement

_BEHIND_TABS = re.compile(r"(\t+)((?: {4})+)(?! )")


def without_new_gaps(text: str, old: str) -> str:
    """The text with no longer gaps than the old one had, or than is usual."""
    longest = {False: 2, True: 1}
    for first, last, inside in _gaps(old):
        longest[inside] = max(longest[inside], last - first)
    lines = text.splitlines(keepends=True)
    for first, last, inside in reversed([*_gaps(text)]):
        del lines[first + longest[inside] : last]
    return "".join(lines)


def in_tabs(text: str, old: str) -> str:
    """The text with tabs where new lines go on by spaces behind the tabs of a block."""
    known = {*old.splitlines()}
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        found = _BEHIND_TABS.match(line)
        if found and line.rstrip("\n") not in known:
            tabs = "\t" * (len(found[2]) // 4)
            lines[index] = f"{found[1]}{tabs}{line[found.end() :]}"
    return "".join(lines)


def with_smaller_gap(text: str, first: int, last: int) -> tuple[int, int]:
    """Lines that are cut out, with the blank ones of the side that has fewer."""
    above = re.search(r"(?<=\n)(\r?\n)*\Z", text[:first])
    below = re.match(r"(\r?\n)*", text[last:])
    if above is None or below is None or not above[0]:
        return first, last
    if len(below[0]) > len(above[0]):
        return first - len(above[0]), last
    return first, last + len(below[0])


def _gaps(text: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches of blank lines, and whether what follows is in a block."""
    lines = text.splitlines()
    said = {
        line - 1
        for node in walk_ast(tree_of(text), ast.Constant, ast.JoinedStr)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    first = 0
    for index, line in enumerate(lines):
        if line.strip() or index in said:
            if index > first:
                yield first, index, line[:1].isspace()
            first = index + 1


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


def space_definitions(statements: Sequence[Statement]) -> list[Statement]:
    """Definitions within others, set off by a blank line."""
    result: list[Statement] = []
    after = False
    for statement in statements:
        is_definition = isinstance(statement, (cst.FunctionDef, cst.ClassDef))
        if is_definition or after:
            statement = with_blank_lines(statement, 1)
        result.append(statement)
        after = is_definition
    return result
