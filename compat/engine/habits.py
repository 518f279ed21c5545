"""What shapes and layers of TensorFlow 1 took, which those of today refuse.

For a process that is a TF 1 program's own: it changes TensorFlow, tf_keras and how
NumPy writes.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

__all__ = ["take_up_habits"]


def take_up_habits() -> None:
    """Let sizes be text and quotients, volumes be normalized, layers be applied."""
    _write_plain_numbers()
    _take_any_size(tf.compat.v1.Dimension)
    _normalize_volumes_unfused(tf_keras.layers.BatchNormalization.__base__)
    if not hasattr(tf_keras.layers.Layer, "apply"):
        # Not the base's own `__call__`: layers of TF 1 have another.
        tf_keras.layers.Layer.apply = lambda layer, *args, **kwargs: layer(
            *args, **kwargs
        )


def _write_plain_numbers() -> None:
    """Write the metrics of an evaluation as 0.5, which programs read back."""
    if int(np.__version__.split(".")[0]) > 1 and not np.get_printoptions()["legacy"]:
        np.set_printoptions(legacy="1.25")


def _take_any_size(dimension: Any) -> None:
    """A size may be the "64" of a flag or the 4.0 of a division."""
    made = dimension.__init__

    @functools.wraps(made)
    def made_of_number(self: Any, value: Any) -> None:
        text = isinstance(value, (str, bytes))
        if text or (isinstance(value, float) and value.is_integer()):
            value = int(value)
        made(self, value)

    dimension.__init__ = made_of_number


def _normalize_volumes_unfused(base: Any) -> None:
    """Take the fused kernel from inputs with five dimensions.

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
