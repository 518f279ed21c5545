"""What a model_fn asked its graph for, and where a loop finds it."""

from __future__ import annotations

import ast
import re

import libcst as cst

from ..code.tree import Tree
from ..program import MODEL, TF

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
    if symbol == "tf.trainable_variables":
        return _scoped("trainable_variables", [a.value for a in call.args])
    if symbol == "tf.get_collection" and len(call.args) in (1, 2):
        key = call.args[0].value
        name = tree.symbol(key)
        if name is None and isinstance(key, cst.SimpleString):
            name = str(ast.literal_eval(key.value))
        found = _COLLECTIONS.get(name or "")
        scope = [a.value for a in call.args[1:]]
        return None if found is None else _scoped(found, scope)
    return None


def _scoped(found: str, scope: list[cst.BaseExpression]) -> str | None:
    """A collection, or what of it has a name that begins with a scope."""
    if not scope:
        return f"{MODEL}.{found}"
    (node,) = scope
    if not isinstance(node, cst.SimpleString) or found != "trainable_variables":
        return None
    if not re.fullmatch(r"[\w/-]+", str(node.evaluated_value)):
        return None  # a pattern
    return f"[v for v in {MODEL}.{found} if v.name.startswith({node.value})]"
