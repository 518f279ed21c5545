"""Recurrent cells and cell wrappers of ``tf.contrib.rnn``."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ...engine import legacy_layers
from ...engine.legacy_layers import rnn_cell

# What is multiplied has rows and columns.
_RANK = 2

__all__ = [
    "AttentionCellWrapper",
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "GRUCell",
    "HighwayWrapper",
    "InputProjectionWrapper",
    "LSTMBlockCell",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerNormBasicLSTMCell",
    "LayerRNNCell",
    "MultiRNNCell",
    "OutputProjectionWrapper",
    "RNNCell",
    "ResidualWrapper",
    "UGRNNCell",
]

BasicLSTMCell = rnn_cell.BasicLSTMCell
BasicRNNCell = rnn_cell.BasicRNNCell
DeviceWrapper = rnn_cell.DeviceWrapper
DropoutWrapper = rnn_cell.DropoutWrapper
GRUCell = rnn_cell.GRUCell
LSTMCell = rnn_cell.LSTMCell
LSTMStateTuple = rnn_cell.LSTMStateTuple
LayerRNNCell = legacy_layers.LayerRNNCell
MultiRNNCell = rnn_cell.MultiRNNCell
RNNCell = rnn_cell.RNNCell
ResidualWrapper = rnn_cell.ResidualWrapper


class _Linear:
    """``concat(args) @ kernel + bias``; its variables are made once, where it is."""

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ):
        parts = _as_list(args)
        sizes = [tf.dimension_value(one.get_shape()[1]) for one in parts]
        if any(one.get_shape().ndims != _RANK for one in parts) or None in sizes:
            shapes = [one.get_shape() for one in parts]
            raise ValueError(
                f"linear is expecting 2D arguments of known size: {shapes}"
            )
        self._size = output_size
        self._bias = None
        dtype = parts[0].dtype
        self._kernel = tf.get_variable(
            "kernel", [sum(sizes), output_size], dtype, initializer=kernel_initializer
        )
        if not build_bias:
            return
        with tf.variable_scope(tf.get_variable_scope()) as inside:
            inside.set_partitioner(None)
            start = bias_initializer
            if start is None:
                start = tf.constant_initializer(0.0, dtype=dtype)
            self._bias = tf.get_variable(
                "bias", [output_size], dtype, initializer=start
            )

    def __call__(self, args: Any) -> Any:
        """The map of other inputs of the same sizes."""
        parts = _as_list(args)
        inputs = parts[0] if len(parts) == 1 else tf.concat(parts, 1)
        outputs = tf.matmul(inputs, self._kernel)
        return outputs if self._bias is None else tf.nn.bias_add(outputs, self._bias)


def _as_list(args: Any) -> list[Any]:
    parts = list(args) if isinstance(args, (list, tuple)) else [args]
    if not parts or parts[0] is None:
        raise ValueError("`args` must be specified")
    return parts


def _linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Any:
    """The same with variables of the current scope, called at once."""
    made = _Linear(args, output_size, bias, bias_initializer, kernel_initializer)
    return made(args)


class LayerNormBasicLSTMCell(RNNCell):  # type: ignore[misc, valid-type]
    """An LSTM with layer normalisation and recurrent dropout."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        del input_size
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._gain = norm_gain
        self._shift = norm_shift

    @property
    def state_size(self) -> Any:
        """Cell and output state."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """Number of units."""
        return self._num_units

    def _norm(self, inputs: Any, scope: str) -> Any:
        from ..layers import layer_norm

        size = [tf.dimension_value(inputs.get_shape()[-1])]
        with tf.variable_scope(scope):
            # layer_norm finds these with the wanted initial values
            tf.get_variable(
                "gamma", size, initializer=tf.constant_initializer(self._gain)
            )
            tf.get_variable(
                "beta", size, initializer=tf.constant_initializer(self._shift)
            )
        return layer_norm(inputs, reuse=True, scope=scope)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        c, h = state
        joined = tf.concat([inputs, h], 1)
        depth = tf.dimension_value(joined.get_shape()[-1])
        kernel = tf.get_variable("kernel", [depth, 4 * self._num_units], joined.dtype)
        gates = tf.matmul(joined, kernel)
        if not self._layer_norm:
            gates = gates + tf.get_variable(
                "bias",
                [4 * self._num_units],
                joined.dtype,
                initializer=tf.zeros_initializer(),
            )
        i, j, f, o = tf.split(gates, 4, 1)
        if self._layer_norm:
            i, j = self._norm(i, "input"), self._norm(j, "transform")
            f, o = self._norm(f, "forget"), self._norm(o, "output")
        g = self._activation(j)
        if not (isinstance(self._keep_prob, float) and self._keep_prob >= 1):
            g = tf.nn.dropout(g, rate=1.0 - self._keep_prob, seed=self._seed)
        new_c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * g
        if self._layer_norm:
            new_c = self._norm(new_c, "state")
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class _Wrapper(RNNCell):  # type: ignore[misc, valid-type]
    """A cell around another one."""

    def __init__(self, cell: Any, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        """The inner cell's."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The inner cell's."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The inner cell's."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class OutputProjectionWrapper(_Wrapper):
    """A linear layer on top of each output."""

    def __init__(
        self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._size = output_size
        self._activation = activation

    @property
    def output_size(self) -> int:
        """Size of the projection."""
        return self._size

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        output, state = self._cell(inputs, state)
        projected = _linear(output, self._size, True)
        if self._activation:
            projected = self._activation(projected)
        return projected, state


class InputProjectionWrapper(_Wrapper):
    """A linear layer below each input."""

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Any = None,
        input_size: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        del input_size
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        projected = _linear(inputs, self._num_proj, True)
        if self._activation:
            projected = self._activation(projected)
        return self._cell(projected, state)


class EmbeddingWrapper(_Wrapper):
    """Looks word numbers up before each step."""

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError("Both embedding_classes and embedding_size must be > 0")
        self._classes, self._size = embedding_classes, embedding_size
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        with tf.device("/cpu:0"):
            initializer = self._initializer
            if initializer is None:
                initializer = tf.get_variable_scope().initializer
            if initializer is None:
                limit = 3**0.5
                initializer = tf.random_uniform_initializer(-limit, limit)
            part = state[0] if isinstance(state, tuple) else state
            while isinstance(part, tuple):
                part = part[0]
            table = tf.get_variable(
                "embedding",
                [self._classes, self._size],
                initializer=initializer,
                dtype=part.dtype,
            )
            embedded = tf.nn.embedding_lookup(table, tf.reshape(inputs, [-1]))
        return self._cell(embedded, state)


class HighwayWrapper(_Wrapper):
    """A gate that carries inputs past the cell."""

    def __init__(
        self,
        cell: Any,
        couple_carry_transform_gates: bool = True,
        carry_bias_init: float = 1.0,
    ) -> None:
        super().__init__(cell)
        self._couple = couple_carry_transform_gates
        self._bias = carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step.

        Not ``call``: in TF 1.x this wrapper opens no scope of its own, and the
        names in checkpoints show it.
        """
        outputs, state = self._cell(inputs, state, scope=scope)

        def gate(name: str, bias: float) -> Any:
            size = tf.dimension_value(inputs.get_shape()[-1])
            weights = tf.get_variable(f"{name}_w", [size, size], inputs.dtype)
            start = tf.constant_initializer(bias)
            shift = tf.get_variable(
                f"{name}_b", [size], inputs.dtype, initializer=start
            )
            return tf.sigmoid(tf.matmul(inputs, weights) + shift)

        carry = gate("carry", self._bias)
        transform = 1 - carry if self._couple else gate("transform", -self._bias)
        return inputs * carry + outputs * transform, state


class AttentionCellWrapper(_Wrapper):
    """Attention over the last outputs of a cell."""

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        if not state_is_tuple:
            raise ValueError("AttentionCellWrapper needs state_is_tuple=True.")
        if attn_length <= 0:
            raise ValueError(
                f"attn_length should be greater than zero, got {attn_length}"
            )
        super().__init__(cell, reuse)
        self._attn_size = attn_size or cell.output_size
        self._vec_size = attn_vec_size or self._attn_size
        self._input_size = input_size
        self._length = attn_length

    @property
    def state_size(self) -> Any:
        """Inner state, attention, attended outputs."""
        return (self._cell.state_size, self._attn_size, self._attn_size * self._length)

    @property
    def output_size(self) -> int:
        """Size of the attention."""
        return int(self._attn_size)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """All zeros."""
        return RNNCell.zero_state(self, batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        inner, attns, memory = state
        memory = tf.reshape(memory, [-1, self._length, self._attn_size])
        size = self._input_size or tf.dimension_value(inputs.get_shape()[1])
        mixed = _linear([inputs, attns], size, True)
        output, inner = self._cell(mixed, inner)
        flat = tf.concat(tf.nest.flatten(inner), 1)
        new_attns, kept = self._attention(flat, memory)
        with tf.variable_scope("attn_output_projection"):
            output = _linear([output, new_attns], self._attn_size, True)
        memory = tf.concat([kept, tf.expand_dims(output, 1)], 1)
        memory = tf.reshape(memory, [-1, self._attn_size * self._length])
        return output, (inner, new_attns, memory)

    def _attention(self, query: Any, memory: Any) -> tuple[Any, Any]:
        with tf.variable_scope("attention"):
            k = tf.get_variable("attn_w", [1, 1, self._attn_size, self._vec_size])
            v = tf.get_variable("attn_v", [self._vec_size])
            hidden = tf.reshape(memory, [-1, self._length, 1, self._attn_size])
            features = tf.nn.conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = _linear(query, self._vec_size, True)
            y = tf.reshape(y, [-1, 1, 1, self._vec_size])
            weights = tf.nn.softmax(tf.reduce_sum(v * tf.tanh(features + y), [2, 3]))
            found = tf.reduce_sum(
                tf.reshape(weights, [-1, self._length, 1, 1]) * hidden, [1, 2]
            )
            return tf.reshape(found, [-1, self._attn_size]), memory[:, 1:]


class LSTMBlockCell(RNNCell):  # type: ignore[misc, valid-type]
    """An LSTM whose step is one fused operation."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._clip = cell_clip if cell_clip is not None else -1
        self._peephole = use_peephole

    @property
    def state_size(self) -> Any:
        """Cell and output state."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """Number of units."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        cs, h = state
        depth = tf.dimension_value(inputs.get_shape()[1])
        units = self._num_units
        kernel = tf.get_variable("kernel", [depth + units, 4 * units], inputs.dtype)
        bias = tf.get_variable(
            "bias", [4 * units], inputs.dtype, initializer=tf.zeros_initializer()
        )
        # The fused operation has no gradient any more.
        gates = tf.matmul(tf.concat([inputs, h], 1), kernel) + bias
        i, j, f, o = tf.split(gates, 4, axis=1)
        if self._peephole:
            wci, wcf, wco = (
                tf.get_variable(name, [units], inputs.dtype)
                for name in ("w_i_diag", "w_f_diag", "w_o_diag")
            )
            i, f = i + cs * wci, f + cs * wcf
        cs = tf.tanh(j) * tf.sigmoid(i) + cs * tf.sigmoid(f + self._forget_bias)
        if self._clip > 0:
            cs = tf.clip_by_value(cs, -self._clip, self._clip)
        o = o + cs * wco if self._peephole else o
        h = tf.tanh(cs) * tf.sigmoid(o)
        return h, LSTMStateTuple(cs, h)


def _gru_step(
    inputs: Any, state: Any, w_ru: Any, b_ru: Any, w_c: Any, b_c: Any
) -> tuple[Any, Any]:
    """What the fused operation computes, which has no gradient any more."""
    gates = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), w_ru) + b_ru)
    r, u = tf.split(gates, 2, axis=1)
    c = tf.tanh(tf.matmul(tf.concat([inputs, state * r], 1), w_c) + b_c)
    state = (1 - u) * c + u * state
    return state, state


class GRUBlockCellV2(RNNCell):  # type: ignore[misc, valid-type]
    """A GRU whose step is one fused operation."""

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._size = num_units if num_units is not None else cell_size

    @property
    def state_size(self) -> Any:
        """Number of units."""
        return self._size

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._size

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        depth = tf.dimension_value(inputs.get_shape()[1])
        size = self._size
        assert size is not None
        ones = tf.constant_initializer(1.0)
        with tf.variable_scope("gates"):
            w_ru = tf.get_variable("kernel", [depth + size, 2 * size], inputs.dtype)
            b_ru = tf.get_variable("bias", [2 * size], inputs.dtype, initializer=ones)
        with tf.variable_scope("candidate"):
            w_c = tf.get_variable("kernel", [depth + size, size], inputs.dtype)
            b_c = tf.get_variable(
                "bias", [size], inputs.dtype, initializer=tf.zeros_initializer()
            )
        return _gru_step(inputs, state, w_ru, b_ru, w_c, b_c)


class GRUBlockCell(GRUBlockCellV2):
    """`GRUBlockCellV2` under the variable names of old checkpoints."""

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        depth = tf.dimension_value(inputs.get_shape()[1])
        size = self._size
        assert size is not None
        w_ru = tf.get_variable("w_ru", [depth + size, 2 * size], inputs.dtype)
        b_ru = tf.get_variable(
            "b_ru", [2 * size], inputs.dtype, initializer=tf.constant_initializer(1.0)
        )
        w_c = tf.get_variable("w_c", [depth + size, size], inputs.dtype)
        b_c = tf.get_variable(
            "b_c", [size], inputs.dtype, initializer=tf.zeros_initializer()
        )
        return _gru_step(inputs, state, w_ru, b_ru, w_c, b_c)


class UGRNNCell(RNNCell):  # type: ignore[misc, valid-type]
    """An update-gate recurrent cell."""

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = tf.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation

    @property
    def state_size(self) -> int:
        """Number of units."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """Number of units."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            joined = _linear([inputs, state], 2 * self._num_units, True)
        gate, candidate = tf.split(joined, 2, 1)
        gate = tf.sigmoid(gate + self._forget_bias)
        new = gate * state + (1.0 - gate) * self._activation(candidate)
        return new, new
