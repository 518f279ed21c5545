"""Functions and classes whose body stands beside their name."""

from __future__ import annotations

import libcst as cst

from ..code.tree import Tree, walk

__all__ = ["with_bodies_below"]


def with_bodies_below(tree: Tree) -> cst.Module | None:
    """The module with ``def f(): return x`` on two lines; None if there is no such."""
    if not any(
        isinstance(node, (cst.FunctionDef, cst.ClassDef))
        and isinstance(node.body, cst.SimpleStatementSuite)
        for node in walk(tree.module)
    ):
        return None
    changed = tree.module.visit(_Lower())
    assert isinstance(changed, cst.Module)
    return changed


class _Lower(cst.CSTTransformer):
    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        return updated_node.with_changes(body=_below(updated_node.body))

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        return updated_node.with_changes(body=_below(updated_node.body))


def _below(body: cst.BaseSuite) -> cst.BaseSuite:
    if not isinstance(body, cst.SimpleStatementSuite):
        return body
    lines = [
        cst.SimpleStatementLine([one.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
        for one in body.body
    ]
    lines[-1] = lines[-1].with_changes(trailing_whitespace=body.trailing_whitespace)
    return cst.IndentedBlock(lines)
