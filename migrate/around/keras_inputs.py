"""Keras models that a model_fn makes over tensors of its graph."""

from __future__ import annotations

import libcst as cst

from ..plan.code.arguments import is_none
from ..plan.code.tree import Tree

__all__ = ["over_tensors"]

_INPUTS = ("tf.keras.Input", "tf.keras.layers.Input", "tf.keras.layers.InputLayer")
_APPLICATIONS = "tf.keras.applications."
_GIVEN = ("input_tensor", "tensor")
# include_top, weights, input_tensor
_PLACE_IN_APPLICATIONS = 2


def over_tensors(tree: Tree, call: cst.Call) -> str | None:
    """Why a call that makes a Keras model, or its input, is for graphs alone.

    Keras models begin with inputs of their own today, also within a graph.
    """
    symbol = tree.symbol(call.func) or ""
    if symbol not in _INPUTS and not symbol.startswith(_APPLICATIONS):
        return None
    given = [a.value for a in call.args if a.keyword and a.keyword.value in _GIVEN]
    if symbol.startswith(_APPLICATIONS) and not given:
        unnamed = [a for a in call.args if a.keyword is None and not a.star]
        given = [a.value for a in unnamed[_PLACE_IN_APPLICATIONS:][:1]]
    for one in given:
        value = tree.value(one)
        is_input = isinstance(value, cst.Call) and tree.symbol(value.func) in _INPUTS
        if not is_none(one) and not is_input:
            return "a Keras model is made over a tensor of the graph"
    return None
