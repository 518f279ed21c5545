"""What a train_op waits for: the UPDATE_OPS of the layers, other updates."""

from __future__ import annotations

import libcst as cst

from ..code.tree import Tree

__all__ = ["is_update_collection", "moves_variables"]

_TRAINS = ("minimize", "apply_gradients")
_ASSIGNS = ("assign", "scatter_")


def moves_variables(tree: Tree, call: cst.Call) -> bool:
    """The call makes an operation that changes variables."""
    symbol = tree.symbol(call.func)
    if symbol is not None:
        name = symbol.rpartition(".")[2]
        return name == "optimize_loss" or name.startswith(_ASSIGNS)
    if not isinstance(call.func, cst.Attribute):
        return False
    name = call.func.attr.value
    return name in _TRAINS or name.startswith(_ASSIGNS)


def is_update_collection(tree: Tree, value: cst.BaseExpression | None) -> bool:
    """``tf.get_collection(tf.GraphKeys.UPDATE_OPS)``."""
    return (
        isinstance(value, cst.Call)
        and tree.symbol(value.func) == "tf.get_collection"
        and bool(value.args)
        and (tree.symbol(value.args[0].value) or "").endswith("UPDATE_OPS")
    )
