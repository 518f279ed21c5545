"""What a program does with the pair that train_and_evaluate returned."""

from __future__ import annotations

import libcst as cst

from ..code.tree import Tree
from ..sites import Blocked

__all__ = ["METRICS", "PAIR", "is_first", "unpacked", "wanted_result"]

METRICS = "metrics"
PAIR = "pair"


def wanted_result(tree: Tree, call: cst.Call) -> str:
    """What of the pair of metrics and exports is used."""
    parent = tree.parent(call)
    if isinstance(parent, cst.Expr):
        return ""
    outer: cst.CSTNode = call
    if isinstance(parent, cst.Subscript) and is_first(parent):
        outer, parent = parent, tree.parent(parent)
    if isinstance(parent, (cst.Assign, cst.Return)) and parent.value is outer:
        if outer is not call or unpacked(tree, call) is not None:
            return METRICS
        return PAIR
    reason = "the result of train_and_evaluate is part of an expression"
    raise Blocked("TFM110", tree.line(call), reason)


def is_first(node: cst.Subscript) -> bool:
    """``[0]``: of the pair, the metrics."""
    index = node.slice[0].slice
    return (
        len(node.slice) == 1
        and isinstance(index, cst.Index)
        and isinstance(index.value, cst.Integer)
        and index.value.value == "0"
    )


def unpacked(tree: Tree, call: cst.Call) -> str | None:
    """The name in ``name, _ = train_and_evaluate(...)``, where only it is read."""
    parent = tree.parent(call)
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return None
    target = parent.targets[0].target
    if not isinstance(target, (cst.Tuple, cst.List)) or len(target.elements) != 2:
        return None
    first, second = (e.value for e in target.elements)
    if not isinstance(first, cst.Name) or not isinstance(second, cst.Name):
        return None
    return None if tree.loads(second.value) else first.value
