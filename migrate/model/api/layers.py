"""``tf.layers``: functions that make a layer and call it, and their classes."""

from __future__ import annotations

from ..arguments import Argument
from ..layer_functions import CLASSES, LAYERS
from ..values import Const, Dict, Tensor, Time, Value, time_of
from . import Call, handles

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
    by_function = False
    for place, one in enumerate(call.arguments):
        if one.star:
            by_function = by_function or not_written_out(call, one)
            continue
        name = one.keyword or (names[place] if place < len(names) else "")
        if name in (known.inputs, *known.at_call):
            continue
        if name.endswith("_regularizer") and one.value != Const(None):
            call.evaluator.notes.regularized.append(call)
        by_function = by_function or time_of(one.value) is Time.GRAPH
    call.evaluator.notes.make(call, "function" if by_function else known.keras)
    given = call.by_name(names)
    inputs = given.pop(known.inputs, None)
    at_call = {name: given.pop(name, Const(False)) for name in known.at_call}
    return call.evaluator.applied(call, known.keras, given, inputs, at_call)


def not_written_out(call: Call, argument: Argument) -> bool:
    """A layer's ``**options`` cannot be handed on to one of Keras as they are."""
    value = argument.value
    if argument.star != "**" or not isinstance(value, Dict):
        return True
    for key, one in value.items:
        if key not in _TAKEN_ALIKE:
            return True
        if str(key).endswith("_regularizer") and one != Const(None):
            call.evaluator.notes.regularized.append(call)
        if time_of(one) is Time.GRAPH:
            return True
    return False


@handles(*CLASSES)
def layer_class(call: Call) -> Value:
    """``tf.layers.Dense(10)``, called later: where, says what it is named."""
    known = CLASSES[call.symbol]
    names = known.parameters_of_class
    for place, one in enumerate(call.arguments):
        name = one.keyword or (names[place] if place < len(names) else "")
        if one.star or time_of(one.value) is Time.GRAPH:
            shown = call.evaluator.code(one.node, call.env)
            return call.unknown(f"a layer depends on `{shown}`")
        if name.endswith("_regularizer") and one.value != Const(None):
            call.evaluator.notes.regularized.append(call)
    call.evaluator.notes.make(call, "object")
    return call.layer(known.keras, names, stays=True, legacy=True)


@handles("tf.layers.Layer", "tf.layers.Input")
def other(call: Call) -> Value:
    """What has no twin among Keras layers of its own kind."""
    return call.unknown(f"`{call.symbol}` cannot be lifted yet")


@handles("tf.feature_column.linear_model")
def linear(call: Call) -> Value:
    """A sum over columns: it has a variable for each."""
    if any(one.star for one in call.arguments):
        return call.unknown("a linear model with arguments that are not written out")
    return call.makes("linear_model")


@handles("tf.layers.experimental.", "tf.feature_column.", "tf.contrib.feature_column.")
def column(call: Call) -> Value:
    """The description of a column."""
    return Tensor() if call.time is Time.GRAPH else Const(None)
