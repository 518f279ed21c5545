"""``tf.keras``: what is made of it has Keras layers already."""

from __future__ import annotations

import re
from dataclasses import replace

from ...plan.layers.functions import LAYERS
from ..spelling import snake
from ..values import Config, Layer, Tensor, Time, Value
from . import Call, handles, said

_COUNTED = re.compile(r"_\d+$")
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
    call.evaluator.notes.keras.append(call)
    name = call.symbol.rpartition(".")[2]
    known = _BY_CLASS.get(name)
    given = said(call, known.parameters if known else ())
    if not call.evaluator.in_lifted(call.env):
        return Layer(call.symbol, True, given, stays=True)
    kind = tuple(
        (key, value)
        for key, value in given
        if key == "name" and _COUNTED.sub("", value.strip("'")) == snake(name)
    )
    given = tuple(one for one in given if one not in kind)
    return Layer(call.symbol, True, given, kind=kind)


@handles("tf.estimator.ColumnsLayer")
def columns(call: Call) -> Value:
    """The layer that feature columns become."""
    return Layer(call.symbol, True, said(call, ()))


@handles("tf.estimator.named")
def named(call: Call) -> Value:
    """A layer whose name was chosen."""
    made = call.arguments[0].value
    if not isinstance(made, Layer):
        return made
    return replace(made, given=tuple(sorted((*made.given, *made.kind))), kind=())


@handles("tf.keras.Input", "tf.keras.layers.Input")
def placeholder(call: Call) -> Value:
    """A tensor that stands for the data of a functional model."""
    call.evaluator.notes.keras.append(call)
    return Tensor()


@handles("tf.keras.layers.add", "tf.keras.layers.concatenate", "tf.keras.backend.")
def of_tensors(call: Call) -> Value:
    """Functions of tensors under the names of Keras."""
    return Tensor()


@handles(
    "tf.keras.losses.",
    "tf.keras.metrics.",
    "tf.keras.initializers.",
    "tf.keras.regularizers.",
    "tf.keras.constraints.",
    "tf.keras.activations.",
    "tf.keras.utils.",
    "tf.keras.datasets.",
    "tf.keras.preprocessing.",
)
def around(call: Call) -> Value:
    """What has no weights of the model."""
    return Tensor() if call.time is Time.GRAPH else Config(call.time is Time.MODE)
