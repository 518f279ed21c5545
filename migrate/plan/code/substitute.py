"""Puts what a caller gave in the place of a function's parameters."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ...symbols.nodes import CodeTransformer

__all__ = ["VariableTransformer", "substituted"]


class VariableTransformer(CodeTransformer):
    """Changes names of variables, and none after a dot or in front of an argument."""

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)


class _Substitute(VariableTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        text = self.names.get(original_node.value)
        return updated_node if text is None else _parted(text)


_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.List)


def _parted(text: str) -> cst.BaseExpression:
    """Source text that means the same wherever it is put."""
    made = cst.parse_expression(text)
    if isinstance(made, (*_ATOMS, cst.SimpleString, cst.Dict)) or made.lpar:
        return made
    return made.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def substituted(
    node: cst.BaseExpression, names: Mapping[str, str]
) -> cst.BaseExpression:
    """The expression with source text in the place of names."""
    if not names:
        return node
    if isinstance(node, cst.Name) and node.value in names:
        return cst.parse_expression(names[node.value])
    changed = node.visit(_Substitute(names))
    assert isinstance(changed, cst.BaseExpression)
    return changed
