"""What shapes and layers could do in TensorFlow 1, in the whole process."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["behave_as_in_tf1"]


@functools.cache
def behave_as_in_tf1() -> None:
    """Lets sizes, batch normalization and layers be as in TensorFlow 1."""
    import tf_keras

    layer = tf_keras.layers.Layer
    if not hasattr(layer, "apply"):
        layer.apply = _apply
    _size_by_any_number(tf.Dimension)
    _norm_volumes_unfused(tf_keras.layers.BatchNormalization.__base__)


def _apply(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """As `__call__`."""
    return self(inputs, *args, **kwargs)


def _size_by_any_number(dimension: Any) -> None:
    """Lets shapes be made of "64", as a flag has it, and of the 4.0 of a division."""
    made = dimension.__init__

    @functools.wraps(made)
    def made_of_number(self: Any, value: Any) -> None:
        text = isinstance(value, (str, bytes))
        if text or (isinstance(value, float) and value.is_integer()):
            value = int(value)
        made(self, value)

    dimension.__init__ = made_of_number


def _norm_volumes_unfused(base: Any) -> None:
    """Takes the fused kernel from batch normalization of five dimensions.

    TensorFlow 1 had it for pictures only. Its variance, which goes into the moving
    one, is that of a sample, `n / (n - 1)` of what the batch has.
    """
    build = base.build

    @functools.wraps(build)
    def built(self: Any, input_shape: Any) -> None:
        if len(input_shape) == 5:
            self.fused = False
        build(self, input_shape)

    base.build = built
