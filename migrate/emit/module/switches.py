"""Calls that turn eager execution off, which a training loop lives on."""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import Tree
from ...plan.sites import Blocked
from .dropping import without_statements

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
    gone: list[cst.BaseSmallStatement] = []
    for node in _switches(tree, tree.text):
        if isinstance(tree.parent(node), (cst.ImportAlias, cst.ImportFrom)):
            continue
        call = tree.parent(node)
        line = tree.statement(node)
        said: list[cst.BaseSmallStatement] = []
        if isinstance(call, cst.Call) and call.func is node:
            lines = line.body if isinstance(line, cst.SimpleStatementLine) else ()
            said = [s for s in lines if isinstance(s, cst.Expr) and s.value is call]
        if not said:
            reason = f"`{tree.symbol(node)}` turns eager execution off, and is no line"
            raise Blocked("TFM103", tree.line(node), reason)
        gone += said
    return without_statements(tree.module, gone)


def _switches(tree: Tree, text: str) -> list[cst.CSTNode]:
    names = [name for name in SWITCHES if name.removeprefix("tf.") in text]
    if not names:
        return []
    return [
        node
        for node in tree.nodes
        if isinstance(node, (cst.Attribute, cst.Name)) and tree.symbol(node) in names
    ]
