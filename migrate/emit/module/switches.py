"""Calls that turn eager execution off, which a training loop lives on."""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import Tree, walk
from ...plan.sites import Blocked

__all__ = ["SWITCHES", "drop_switches", "has_switches"]

SWITCHES = (
    "tf.disable_eager_execution",
    "tf.disable_resource_variables",
    "tf.disable_v2_behavior",
)


def has_switches(tree: Tree, text: str) -> bool:
    """Whether a module of that text may turn eager execution off."""
    return bool(_switches(tree, text))


def drop_switches(tree: Tree) -> cst.Module:
    """The module without these calls; one that is no statement keeps the program."""
    gone: set[cst.CSTNode] = set()
    for node in _switches(tree, tree.text):
        if isinstance(tree.parent(node), (cst.ImportAlias, cst.ImportFrom)):
            continue
        call = tree.parent(node)
        line = tree.statement(node)
        if (
            not isinstance(call, cst.Call)
            or call.func is not node
            or not isinstance(line, cst.SimpleStatementLine)
            or not any(isinstance(s, cst.Expr) and s.value is call for s in line.body)
        ):
            reason = f"`{tree.symbol(node)}` turns eager execution off, and is no line"
            raise Blocked("TFM103", tree.line(node), reason)
        gone.add(call)
    if not gone:
        return tree.module
    changed = tree.module.visit(_Drop(gone))
    assert isinstance(changed, cst.Module)
    return changed


def _switches(tree: Tree, text: str) -> list[cst.CSTNode]:
    names = [name for name in SWITCHES if name.removeprefix("tf.") in text]
    if not names:
        return []
    return [
        node
        for node in walk(tree.module)
        if isinstance(node, (cst.Attribute, cst.Name)) and tree.symbol(node) in names
    ]


class _Drop(cst.CSTTransformer):
    def __init__(self, gone: set[cst.CSTNode]) -> None:
        self.gone = gone

    def leave_Expr(
        self, original_node: cst.Expr, updated_node: cst.Expr
    ) -> cst.Expr | cst.RemovalSentinel:
        if original_node.value in self.gone:
            return cst.RemoveFromParent()
        return updated_node

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        return updated_node if updated_node.body else cst.RemoveFromParent()

    def leave_SimpleStatementSuite(
        self,
        original_node: cst.SimpleStatementSuite,
        updated_node: cst.SimpleStatementSuite,
    ) -> cst.SimpleStatementSuite:
        if updated_node.body:
            return updated_node
        return updated_node.with_changes(body=[cst.Pass()])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        if updated_node.body:
            return updated_node
        return updated_node.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])
