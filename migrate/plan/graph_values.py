"""What a model_fn asked its graph for, and where a loop finds it."""

from __future__ import annotations

import ast

import libcst as cst

from .program import MODEL, TF
from .tree import Tree

__all__ = ["graph_value"]

_COLLECTIONS = {
    "tf.GraphKeys.REGULARIZATION_LOSSES": "losses",
    "regularization_losses": "losses",
    "tf.GraphKeys.TRAINABLE_VARIABLES": "trainable_variables",
    "trainable_variables": "trainable_variables",
}


def graph_value(tree: Tree, call: cst.Call) -> str | None:
    """Source of what a function of the graph gave, or None for other calls."""
    symbol = tree.symbol(call.func)
    if symbol == "tf.losses.get_regularization_losses" and not call.args:
        return f"{MODEL}.losses"
    if symbol == "tf.losses.get_regularization_loss" and not call.args:
        return f"{TF}.reduce_sum({MODEL}.losses)"
    if symbol == "tf.trainable_variables" and not call.args:
        return f"{MODEL}.trainable_variables"
    if symbol == "tf.get_collection" and len(call.args) == 1:
        key = call.args[0].value
        name = tree.symbol(key)
        if name is None and isinstance(key, cst.SimpleString):
            name = str(ast.literal_eval(key.value))
        found = _COLLECTIONS.get(name or "")
        return None if found is None else f"{MODEL}.{found}"
    return None
