"""``NASCell``: the recurrent cell that an architecture search found."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ...engine.legacy_layers import rnn_cell

__all__ = ["NASCell"]


class NASCell(rnn_cell.RNNCell):
    """Eight gates, joined in pairs, in three layers (Zoph and Le, 2016)."""

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: Any = None,
        **kwargs: Any,
    ) -> None:
        # TF 1.12 said `use_biases`.
        use_bias = kwargs.pop("use_biases", use_bias)
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def state_size(self) -> Any:
        """Cell and output state."""
        return rnn_cell.LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """Number of units, after the projection if there is one."""
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        memory, previous = state
        units = self._num_units
        depth = tf.dimension_value(inputs.get_shape()[-1])
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        recurrent = tf.get_variable(
            "recurrent_kernel", [self.output_size, 8 * units], inputs.dtype
        )
        kernel = tf.get_variable("kernel", [depth, 8 * units], inputs.dtype)
        from_state = tf.matmul(previous, recurrent)
        if self._use_bias:
            from_state += tf.get_variable(
                "bias", [8 * units], inputs.dtype, initializer=tf.zeros_initializer()
            )
        m = tf.split(from_state, 8, 1)
        x = tf.split(tf.matmul(inputs, kernel), 8, 1)
        first = tf.tanh(tf.sigmoid(x[0] + m[0]) * tf.nn.relu(x[1] + m[1]))
        second = tf.tanh(tf.sigmoid(x[2] + m[2]) + tf.nn.relu(x[3] * m[3]))
        third = tf.tanh(tf.tanh(x[4] + m[4]) * tf.sigmoid(x[5] + m[5]))
        fourth = tf.sigmoid(tf.tanh(x[6] + m[6]) + tf.sigmoid(x[7] + m[7]))
        memory = tf.tanh(first + memory) * second
        output = tf.tanh(memory * tf.tanh(third + fourth))
        if self._num_proj is not None:
            projection = tf.get_variable(
                "projection_weights", [units, self._num_proj], inputs.dtype
            )
            output = tf.matmul(output, projection)
        return output, rnn_cell.LSTMStateTuple(memory, output)
