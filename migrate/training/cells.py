"""Recurrent cells that have one kernel for their inputs and their state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras


class LSTMCell(tf_keras.layers.Layer):
    """An LSTM cell for `tf_keras.layers.RNN`; its state is (c, h)."""

    def __init__(
        self,
        units: int,
        forget_bias: float = 1.0,
        activation: Callable[[Any], Any] = tf.tanh,
        kernel_initializer: Any = "glorot_uniform",
    ) -> None:
        super().__init__()
        self.units, self.forget_bias = units, forget_bias
        self.activation, self.kernel_initializer = activation, kernel_initializer
        self.state_size, self.output_size = [units, units], units

    def build(self, input_shape: Any) -> None:
        shape = [input_shape[-1] + self.units, 4 * self.units]
        self.kernel = self.add_weight(
            "kernel", shape, initializer=self.kernel_initializer
        )
        self.bias = self.add_weight("bias", shape[1:], initializer="zeros")

    def call(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        c, h = states
        gates = tf.matmul(tf.concat([inputs, h], 1), self.kernel) + self.bias
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f + self.forget_bias) * c + tf.sigmoid(i) * self.activation(j)
        h = tf.sigmoid(o) * self.activation(c)
        return h, [c, h]


class GRUCell(tf_keras.layers.Layer):
    """A GRU cell for `tf_keras.layers.RNN`, which resets its state first."""

    def __init__(
        self,
        units: int,
        activation: Callable[[Any], Any] = tf.tanh,
        kernel_initializer: Any = "glorot_uniform",
    ) -> None:
        super().__init__()
        self.units, self.activation = units, activation
        self.kernel_initializer = kernel_initializer
        self.state_size, self.output_size = units, units

    def build(self, input_shape: Any) -> None:
        rows = input_shape[-1] + self.units

        def weights(name: str, columns: int, bias: str) -> tuple[Any, Any]:
            kernel = self.add_weight(
                f"{name}_kernel", [rows, columns], initializer=self.kernel_initializer
            )
            return kernel, self.add_weight(f"{name}_bias", [columns], initializer=bias)

        self.gates = weights("gates", 2 * self.units, "ones")
        self.candidate = weights("candidate", self.units, "zeros")

    def call(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        (h,) = states
        kernel, bias = self.gates
        gates = tf.sigmoid(tf.matmul(tf.concat([inputs, h], 1), kernel) + bias)
        r, u = tf.split(gates, 2, axis=1)
        kernel, bias = self.candidate
        joined = tf.concat([inputs, r * h], 1)
        h = u * h + (1 - u) * self.activation(tf.matmul(joined, kernel) + bias)
        return h, [h]


class RNNCell(tf_keras.layers.Layer):
    """The plainest cell for `tf_keras.layers.RNN`."""

    def __init__(
        self,
        units: int,
        activation: Callable[[Any], Any] = tf.tanh,
        kernel_initializer: Any = "glorot_uniform",
    ) -> None:
        super().__init__()
        self.units, self.activation = units, activation
        self.kernel_initializer = kernel_initializer
        self.state_size, self.output_size = units, units

    def build(self, input_shape: Any) -> None:
        shape = [input_shape[-1] + self.units, self.units]
        self.kernel = self.add_weight(
            "kernel", shape, initializer=self.kernel_initializer
        )
        self.bias = self.add_weight("bias", shape[1:], initializer="zeros")

    def call(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        joined = tf.concat([inputs, states[0]], 1)
        h = self.activation(tf.matmul(joined, self.kernel) + self.bias)
        return h, [h]


class DropoutCell(tf_keras.layers.Layer):
    """A cell whose inputs and outputs lose other parts at each step of training."""

    def __init__(
        self, cell: Any, inputs: float = 0.0, outputs: float = 0.0, always: bool = False
    ) -> None:
        super().__init__()
        self.cell, self.always = cell, always
        self.inputs_rate, self.outputs_rate = inputs, outputs
        self.state_size, self.output_size = cell.state_size, cell.output_size

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, Any]:
        training = training or self.always
        if training and self.inputs_rate:
            inputs = tf.nn.dropout(inputs, self.inputs_rate)
        outputs, states = self.cell(inputs, states)
        if training and self.outputs_rate:
            outputs = tf.nn.dropout(outputs, self.outputs_rate)
        return outputs, states
