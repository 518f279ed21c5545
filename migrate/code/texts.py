"""Source text of nodes, and names made of names."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from .tree import Statement, statements_of

_COPIED = re.compile(r"(.*?)((?:__\d+)?)")

_PLAIN = cst.Module([])


def source_text(node: cst.CSTNode) -> str:
    """Source of a statement or expression, in four-space indentation."""
    if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        lines = [line for line in node.leading_lines if line.comment is not None]
        node = node.with_changes(leading_lines=lines)
        return _PLAIN.code_for_node(node)
    return _PLAIN.code_for_node(node).strip()


def parse_statements(code: str) -> list[Statement]:
    """Statements from source text."""
    module = cst.parse_module(code)
    statements = statements_of(module)
    if statements and module.header:
        first = statements[0]
        lines = [*module.header, *first.leading_lines]
        statements[0] = first.with_changes(leading_lines=lines)
    return statements


def written_out(code: str) -> Statement:
    """A statement that is only its text, for a tree that becomes text."""
    text: Any = cst.FormattedStringText(code.rstrip("\n"))
    return cst.SimpleStatementLine([cst.Expr(text)])


def camel(name: str) -> str:
    """A class name after the name of a function."""
    name, number = _COPIED.fullmatch(name).groups()  # type: ignore[union-attr]
    name = (name.removesuffix("_fn").strip("_") or "model") + number
    words = [w[:1].upper() + w[1:] for w in name.split("_") if w]
    return "".join(words)
