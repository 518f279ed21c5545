"""Puts what a caller gave in the place of a function's parameters."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

__all__ = ["substituted"]


class _Substitute(cst.CSTTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        text = self.names.get(original_node.value)
        return cst.parse_expression(text) if text is not None else updated_node

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)


def substituted(
    node: cst.BaseExpression, names: Mapping[str, str]
) -> cst.BaseExpression:
    """The expression with source text in the place of names."""
    if not names:
        return node
    changed = node.visit(_Substitute(names))
    assert isinstance(changed, cst.BaseExpression)
    return changed
