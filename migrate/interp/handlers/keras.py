"""``tf.keras``: what is made of it has Keras layers already."""

from __future__ import annotations

from ..layer_functions import LAYERS
from ..values import Config, Layer, Tensor, Time, Value, with_term
from . import Call, handles

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
    names = known.parameters_of_class if known else ()
    return call.layer(name, names, stays=not call.evaluator.in_lifted(call.env))


@handles("tf.estimator.ColumnsLayer")
def columns(call: Call) -> Value:
    """The layer that feature columns become."""
    return call.layer("ColumnsLayer", ("feature_columns",), stays=False)


@handles("tf.estimator.named")
def named(call: Call) -> Value:
    """A layer whose name was chosen."""
    layer = call.arguments[0].value
    if isinstance(layer, Layer) and layer.chosen is not None:
        return with_term(layer, layer.chosen)
    return layer


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
