"""Regularizers of layers, collected as TensorFlow 1 collected them."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf
from tf_keras.api._v1.keras.__internal__.legacy import layers as layers_v1

from .vocabulary import v1


def regularized_once(base: Any) -> Any:
    """Lets layers regularize a variable where it is made, not where it is met again.

    Outside of TensorFlow 1's graphs each layer that takes a variable adds its loss,
    and what a layer adds for its output is in no collection.
    """
    add_weight, add_loss = base.add_weight, base.add_loss

    @functools.wraps(add_weight)
    def added_once(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not kwargs.get("regularizer"):
            return add_weight(self, *args, **kwargs)
        known = {id(variable) for variable in v1.global_variables()}
        losses = v1.get_collection_ref(v1.GraphKeys.REGULARIZATION_LOSSES)
        before = len(losses)
        variable = add_weight(self, *args, **kwargs)
        if id(variable) in known:
            del losses[before:]
        return variable

    @functools.wraps(add_loss)
    def added_and_collected(self: Any, losses: Any, *args: Any, **kwargs: Any) -> None:
        add_loss(self, losses, *args, **kwargs)
        collected = v1.get_collection_ref(v1.GraphKeys.REGULARIZATION_LOSSES)
        known = {id(one) for one in collected}
        collected += [
            loss
            for loss in tf.nest.flatten(losses)
            if tf.is_symbolic_tensor(loss) and id(loss) not in known
        ]

    base.add_weight, base.add_loss = added_once, added_and_collected
    return base


# From here on, in all of the program.
tf1_regularizers = regularized_once(layers_v1.Layer)
