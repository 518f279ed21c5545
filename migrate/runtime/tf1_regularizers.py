"""Regularizers of layers that share a variable, counted once as in TensorFlow 1."""

from __future__ import annotations

import functools
from typing import Any

from tf_keras.api._v1.keras.__internal__.legacy import layers as layers_v1

from .vocabulary import v1


def regularized_once(base: Any) -> Any:
    """Lets layers regularize a variable where it is made, not where it is met again.

    Outside of TensorFlow 1's graphs each layer that takes a variable adds its loss.
    """
    add_weight = base.add_weight

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

    base.add_weight = added_once
    return base


# From here on, in all of the program.
tf1_regularizers = regularized_once(layers_v1.Layer)
