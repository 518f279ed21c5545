"""``tf.layers``: functions that make a layer and call it, and their classes."""

from __future__ import annotations

from ...plan.layers.functions import CLASSES, LAYERS
from ..values import Const, Layer, Tensor, Time, Value, time_of
from . import Call, handles, said


@handles(*LAYERS)
def function(call: Call) -> Value:
    """``tf.layers.dense(net, 10)``."""
    for one in call.arguments:
        if one.star:
            return call.unknown("a layer with arguments that are not written out")
    known = LAYERS[call.symbol]
    names = (known.inputs, *known.parameters)
    for place, one in enumerate(call.arguments):
        name = one.keyword or (names[place] if place < len(names) else "")
        if name in (known.inputs, *known.at_call):
            continue
        if name.endswith("_regularizer") and one.value != Const(None):
            # On replicas its share of the loss is another one in Keras.
            return call.unknown("a layer with a regularizer")
        if time_of(one.value) is Time.GRAPH:
            shown = call.evaluator.code(one.node, call.env)
            return call.unknown(f"a layer depends on `{shown}`")
    columns = call.symbol == "tf.feature_column.input_layer"
    return call.makes("ColumnsLayer" if columns else known.keras, said(call, names))


@handles(*CLASSES)
def layer_class(call: Call) -> Value:
    """``tf.layers.Dense(10)``, called later."""
    return Layer(call.symbol, keras=False)


@handles("tf.layers.Layer", "tf.layers.Input")
def other(call: Call) -> Value:
    """What has no twin among Keras layers of its own kind."""
    return call.unknown(f"`{call.symbol}` cannot be lifted yet")


@handles("tf.feature_column.linear_model", "tf.feature_column.shared_embedding_columns")
def columns(call: Call) -> Value:
    """Columns whose variables Keras would name in another way."""
    return call.unknown(f"variables of `{call.symbol}` have other names in Keras")


@handles("tf.layers.experimental.", "tf.feature_column.")
def column(call: Call) -> Value:
    """The description of a column."""
    return Tensor() if call.time is Time.GRAPH else Const(None)
