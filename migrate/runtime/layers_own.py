"""What layers say of themselves: the updates and losses that they made in a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras

from .vocabulary import v1


def updates_of(layer: Any) -> list[Any]:
    """As `layer.updates` of TensorFlow 1: the operations that update its statistics.

    Keras counts on being in a function that runs whatever has an effect, and names
    none. They are what assigns variables of the layer that no optimizer trains.
    """
    if not isinstance(layer, tf_keras.layers.Layer):
        found: list[Any] = layer.updates
        return found
    graph = v1.get_default_graph()
    own = [
        graph.capture(component.handle)
        for variable in layer.non_trainable_variables
        for component in tf.distribute.get_strategy().experimental_local_results(
            variable
        )
    ]
    return [
        op
        for op in graph.get_operations()
        if op.type.startswith("Assign") and any(op.inputs[0] is one for one in own)
    ]


def get_updates_for(layer: Any, inputs: Any) -> list[Any]:
    """Those that depend on these inputs; for None, those that depend on no data."""
    if not isinstance(layer, tf_keras.layers.Layer):
        found: list[Any] = layer.get_updates_for(inputs)
        return found
    asked = _asks_for(inputs)
    return [op for op in updates_of(layer) if asked(op)]


def get_losses_for(layer: Any, inputs: Any) -> list[Any]:
    """Losses of a layer that depend on these inputs; for None, on no data."""
    if not isinstance(layer, tf_keras.layers.Layer):
        found: list[Any] = layer.get_losses_for(inputs)
        return found
    asked = _asks_for(inputs)
    return [loss for loss in layer.losses if asked(loss.op)]


def _asks_for(inputs: Any) -> Callable[[tf.Operation], bool]:
    if inputs is None:
        return lambda op: (
            not any(one.op.type == "IteratorGetNext" for one in _read_by(op))
        )
    wanted = {id(one) for one in tf.nest.flatten(inputs)}
    return lambda op: any(id(one) in wanted for one in _read_by(op))


def _read_by(op: tf.Operation) -> list[tf.Tensor]:
    """All tensors that an operation follows from."""
    found: dict[int, tf.Tensor] = {}
    pending = [op]
    while pending:
        for tensor in pending.pop().inputs:
            if id(tensor) not in found:
                found[id(tensor)] = tensor
                pending.append(tensor.op)
    return list(found.values())
