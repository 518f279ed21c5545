"""``tf.layers``: functions that make a layer and call it, and their classes."""

from __future__ import annotations

from ...plan.layers.functions import CLASSES, LAYERS
from ..arguments import Argument
from ..values import Const, Dict, Layer, Tensor, Time, Value, time_of
from . import Call, handles, said

# Arguments that Keras' layers take under the same names, as objects of any kind.
_TAKEN_ALIKE_NAMES = """
filters kernel_size strides padding dilation_rate use_bias units pool_size
kernel_initializer bias_initializer kernel_regularizer bias_regularizer
kernel_constraint bias_constraint activation trainable name
"""
_TAKEN_ALIKE = frozenset(_TAKEN_ALIKE_NAMES.split())


@handles(*LAYERS)
def function(call: Call) -> Value:
    """``tf.layers.dense(net, 10)``."""
    known = LAYERS[call.symbol]
    names = (known.inputs, *known.parameters)
    for place, one in enumerate(call.arguments):
        if one.star:
            why = not_written_out(call, one)
            if why is not None:
                return call.unknown(why)
            continue
        name = one.keyword or (names[place] if place < len(names) else "")
        if name in (known.inputs, *known.at_call):
            continue
        if name.endswith("_regularizer") and one.value != Const(None):
            call.evaluator.notes.regularized.append(call)
        if time_of(one.value) is Time.GRAPH:
            shown = call.evaluator.code(one.node, call.env)
            return call.unknown(f"a layer depends on `{shown}`")
    columns = call.symbol == "tf.feature_column.input_layer"
    return call.makes("ColumnsLayer" if columns else known.keras, said(call, names))


def not_written_out(call: Call, argument: Argument) -> str | None:
    """Why a layer's ``**options`` cannot be handed on as they are, if so."""
    value = argument.value
    if argument.star != "**" or not isinstance(value, Dict):
        return "a layer with arguments that are not written out"
    for key, one in value.items:
        if key not in _TAKEN_ALIKE:
            return f"a layer with `{key}` among its `**` arguments"
        if str(key).endswith("_regularizer") and one != Const(None):
            call.evaluator.notes.regularized.append(call)
        if time_of(one) is Time.GRAPH:
            return f"a layer depends on `{key}`, which is known in the graph only"
    return None


@handles(*CLASSES)
def layer_class(call: Call) -> Value:
    """``tf.layers.Dense(10)``, called later."""
    return Layer(call.symbol, keras=False)


@handles("tf.layers.Layer", "tf.layers.Input")
def other(call: Call) -> Value:
    """What has no twin among Keras layers of its own kind."""
    return call.unknown(f"`{call.symbol}` cannot be lifted yet")


@handles("tf.feature_column.linear_model")
def linear(call: Call) -> Value:
    """A sum over columns: it has a variable for each."""
    if any(one.star for one in call.arguments):
        return call.unknown("a linear model with arguments that are not written out")
    return call.makes("linear_model", said(call, ("features", "columns", "units")))


@handles("tf.layers.experimental.", "tf.feature_column.")
def column(call: Call) -> Value:
    """The description of a column."""
    return Tensor() if call.time is Time.GRAPH else Const(None)
