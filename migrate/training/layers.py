"""Layers that Keras does not have."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras


class ExampleNormalization(tf_keras.layers.Layer):
    """Normalizes each example as a whole, then scales and shifts its last dimension."""

    def __init__(self, center: bool = True, scale: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self.center, self.scale = center, scale

    def build(self, input_shape: Any) -> None:
        shape = input_shape[-1:]
        self.gamma = (
            self.add_weight("gamma", shape, initializer="ones") if self.scale else None
        )
        self.beta = (
            self.add_weight("beta", shape, initializer="zeros") if self.center else None
        )

    def call(self, inputs: Any) -> Any:
        axes = list(range(1, inputs.shape.rank))
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        return tf.nn.batch_normalization(
            inputs, mean, variance, self.beta, self.gamma, 1e-12
        )


class SampleNormalization(tf_keras.layers.BatchNormalization):
    """Batch normalization whose moving variance of vectors is that of a sample, too."""

    def build(self, input_shape: Any) -> None:
        between = [1, 1] if len(input_shape) == 2 else []
        super().build([input_shape[0], *between, *input_shape[1:]])
        self.input_spec = None

    def call(self, inputs: Any, training: Any = None) -> Any:
        if inputs.shape.rank != 2:
            return super().call(inputs, training=training)
        return super().call(inputs[:, None, None], training=training)[:, 0, 0]
