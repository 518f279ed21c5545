"""Batch normalization of volumes, as TensorFlow 1 computed it."""

from __future__ import annotations

import functools
from typing import Any

import tf_keras


def unfused_in_volumes(base: Any) -> Any:
    """Takes the fused kernel from inputs with five dimensions.

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
    return base


# From here on, in all of the program.
tf1_norms = unfused_in_volumes(tf_keras.layers.BatchNormalization.__base__)
