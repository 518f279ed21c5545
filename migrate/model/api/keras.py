"""``tf.keras``: what is made of it has Keras layers already."""

from __future__ import annotations

import re

import libcst as cst

from ...code.tree import Tree, walk
from ..layer_functions import LAYERS, at_call
from ..values import Layer, Tensor, Time, Value, loose, time_of
from . import Call, handles

_WHOLE = re.compile(r"\b(Input|Model|Sequential)\(")
_BY_CLASS = {one.keras: one for one in LAYERS.values()}


@handles(
    "tf.keras.layers.",
    "tf.keras.models.",
    "tf.keras.applications.",
    "tf.keras.Model",
    "tf.keras.Sequential",
)
def layer(call: Call) -> Value:
    """A layer, or a model made of layers."""
    name = call.symbol.rpartition(".")[2]
    known = _BY_CLASS.get(name)
    names = known.parameters_of_class if known else ()
    lifted = call.evaluator.in_lifted(call.env)
    if not lifted and _is_alone(call):
        for one in call.arguments:
            shown = call.evaluator.code(one.node, call.env)
            late = time_of(one.value) is Time.GRAPH
            if one.star or (late and not isinstance(one.value, Layer)):
                return call.unknown(f"a layer depends on `{shown}`")
            # TF 1 never added the penalty up, and never dropped.
            if (one.keyword or "").endswith(("dropout", "_regularizer")):
                return call.unknown(f"`{one.keyword}={shown}` of a layer of Keras")
        if not _is_wrapped(call):
            call.evaluator.notes.make(call, "object")
        elif at_call(call.symbol):
            return call.unknown(f"`{call.symbol}` within another layer")
        return call.layer(name, names, stays=True, legacy=True)
    call.evaluator.notes.keras.append(call)
    return call.layer(name, names, stays=not lifted)


def _is_wrapped(call: Call) -> bool:
    """It is an argument of another layer."""
    module = call.env.module
    tree = Tree(module.module, module.resolver)
    return any(
        isinstance(one, cst.Call)
        and (tree.symbol(one.func) or "").startswith("tf.keras.layers.")
        and one.func is not call.node
        and not any(node is call.node for node in walk(one.func))
        for one in tree.ancestors(call.node)
        if not isinstance(one, cst.BaseStatement)
    )


def _is_alone(call: Call) -> bool:
    """A layer that is no part of a Keras model, nor of an object that holds it."""
    if not call.symbol.startswith("tf.keras.layers."):
        return False
    notes = call.evaluator.notes
    if any(one.symbol.endswith("Input") for one in notes.keras):
        return False
    module = call.env.module
    tree = Tree(module.module, module.resolver)
    above = tree.parent(call.node)
    if call.env.find("self") and getattr(above, "func", None) is not call.node:
        return False
    around = tree.function(call.node)
    return around is not None and not _WHOLE.search(tree.code(around))


@handles("tf.keras.Input", "tf.keras.layers.Input")
def placeholder(call: Call) -> Value:
    """A tensor that stands for the data of a functional model."""
    call.evaluator.notes.keras.append(call)
    return Tensor()


@handles("tf.keras.layers.add", "tf.keras.layers.concatenate", "tf.keras.backend.")
def of_tensors(call: Call) -> Value:
    """Functions of tensors under the names of Keras."""
    return Tensor()


_AROUND = """
losses metrics initializers regularizers constraints activations utils datasets
preprocessing
"""


@handles(*(f"tf.keras.{name}." for name in _AROUND.split()))
def around(call: Call) -> Value:
    """What has no weights of the model."""
    return loose(call.time)
