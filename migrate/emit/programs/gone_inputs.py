"""Parts of input pipelines that went with tf.contrib, as TF2 has them.

Tables are eager objects now: they fill themselves when they are made.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ...plan.code.arguments import UnknownArguments, match_arguments
from ...plan.code.tree import Tree
from ...plan.inputs.tables import TABLES, table_code

__all__ = ["dropped_remainders", "gone_inputs"]


def _drop_remainder(tree: Tree, call: cst.Call) -> str | None:
    size = match_arguments(call, ("batch_size",)).get("batch_size")
    shown = "" if size is None else tree.code(size)
    return f"lambda batches: batches.batch({shown}, drop_remainder=True)"


_DROP_REMAINDER = "tf.contrib.data.batch_and_drop_remainder"


def dropped_remainders(
    tree: Tree,
) -> dict[cst.CSTNode, Callable[[cst.CSTNode], cst.CSTNode]]:
    """``data.apply(batch_and_drop_remainder(n))``: what becomes of each ``apply``."""
    return {node: _batch for node in tree.nodes if _applied(tree, node)}


def _applied(tree: Tree, node: cst.CSTNode | None) -> bool:
    """The call is ``apply`` of nothing but a dropped remainder."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    if (
        node.func.attr.value != "apply"
        or len(node.args) != 1
        or not isinstance(node.args[0].value, cst.Call)
    ):
        return False
    inner = node.args[0].value
    return tree.symbol(inner.func) == _DROP_REMAINDER and len(inner.args) == 1


def _batch(node: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(node, cst.Call)
    assert isinstance(node.func, cst.Attribute)
    inner = node.args[0].value
    assert isinstance(inner, cst.Call)
    made = cst.ensure_type(cst.parse_expression("f(n, drop_remainder=True)"), cst.Call)
    size = made.args[0].with_changes(value=inner.args[0].value)
    return node.with_changes(
        func=node.func.with_changes(attr=cst.Name("batch")), args=[size, made.args[1]]
    )


def gone_inputs(tree: Tree) -> list[tuple[cst.Call, str]]:
    """Calls that TF2 spells differently, each with its new source text."""
    found = []
    for node in tree.nodes:
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        try:
            if symbol == _DROP_REMAINDER:
                outer = next(
                    a for a in tree.ancestors(node) if not isinstance(a, cst.Arg)
                )
                if _applied(tree, outer):
                    continue
                code = _drop_remainder(tree, node)
            elif symbol in TABLES:
                code = table_code(tree, node, tree.code)
            else:
                continue
        except UnknownArguments:
            continue
        if code is not None:
            found.append((node, code))
    return found
