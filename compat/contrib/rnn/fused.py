"""Recurrences that run a whole sequence in one call."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ...engine.legacy_layers import rnn_cell

__all__ = [
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "LSTMBlockFusedCell",
    "TimeReversedFusedRNN",
]


class FusedRNNCell:
    """The interface: called with time-major inputs, gives outputs and state."""

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Run the whole sequence."""
        raise TypeError(f"{type(self).__name__} must define __call__")


class FusedRNNCellAdaptor(FusedRNNCell):
    """A plain cell as a fused one."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._dynamic = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Run the whole sequence."""
        is_list = isinstance(inputs, list)
        if self._dynamic:
            outputs, state = tf.nn.dynamic_rnn(
                self._cell,
                tf.stack(inputs) if is_list else inputs,
                sequence_length=sequence_length,
                initial_state=initial_state,
                dtype=dtype,
                time_major=True,
                scope=scope,
            )
            return (tf.unstack(outputs) if is_list else outputs), state
        outputs, state = tf.nn.static_rnn(
            self._cell,
            inputs if is_list else tf.unstack(inputs),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return (outputs if is_list else tf.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that reads backwards."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def _reverse(self, tensor: Any, lengths: Any) -> Any:
        if isinstance(tensor, list):
            return list(reversed(tensor))
        if lengths is None:
            return tf.reverse(tensor, [0])
        return tf.reverse_sequence(tensor, lengths, seq_axis=0, batch_axis=1)

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Run the whole sequence."""
        outputs, state = self._cell(
            self._reverse(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return self._reverse(outputs, sequence_length), state


class LSTMBlockFusedCell(FusedRNNCell):
    """An LSTM over a whole sequence in one operation."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._clip = cell_clip if cell_clip is not None else -1
        self._peephole = use_peephole
        self._reuse = reuse
        self._dtype = dtype
        self._name = name
        self._scope: Any = None

    def _variables_scope(self, scope: Any) -> Any:
        """The scope of the variables: a new one at the first call, then the same.

        In TF 1.15 the cell was a layer, so a second one in a graph is called
        ``lstm_fused_cell_1``.
        """
        if self._scope is not None:
            return tf.variable_scope(self._scope, reuse=True)
        if self._reuse:
            return tf.variable_scope(scope or self._name, reuse=True)
        return tf.variable_scope(scope, default_name=self._name, reuse=self._reuse)

    @property
    def num_units(self) -> int:
        """Number of units."""
        return self._num_units

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Run the whole sequence."""
        is_list = isinstance(inputs, list)
        x = tf.stack(inputs) if is_list else tf.convert_to_tensor(inputs)
        dtype = x.dtype
        steps, batch = tf.shape(x)[0], tf.shape(x)[1]
        depth, units = tf.dimension_value(x.get_shape()[2]), self._num_units
        with self._variables_scope(scope) as self._scope:
            kernel = tf.get_variable("kernel", [depth + units, 4 * units], dtype)
            bias = tf.get_variable(
                "bias", [4 * units], dtype, initializer=tf.zeros_initializer()
            )
            wci = wcf = wco = tf.zeros([units], dtype)
            if self._peephole:
                wci, wcf, wco = (
                    tf.get_variable(name, [units], dtype)
                    for name in ("w_i_diag", "w_f_diag", "w_o_diag")
                )
            if initial_state is None:
                zeros = tf.zeros([batch, units], dtype)
                initial_state = (zeros, zeros)
            longest: Any = (
                tf.cast(steps, tf.int64)
                if sequence_length is None
                else tf.cast(tf.reduce_max(sequence_length), tf.int64)
            )
            run = tf.raw_ops.BlockLSTM(
                seq_len_max=longest,
                x=x,
                cs_prev=initial_state[0],
                h_prev=initial_state[1],
                w=kernel,
                wci=wci,
                wcf=wcf,
                wco=wco,
                b=bias,
                forget_bias=self._forget_bias,
                cell_clip=self._clip,
                use_peephole=self._peephole,
            )
            cells, outputs = run.cs, run.h
            if sequence_length is None:
                last_c, last_h = cells[-1], outputs[-1]
            else:
                mask = tf.transpose(
                    tf.sequence_mask(sequence_length, steps, dtype=dtype)
                )
                outputs = outputs * tf.expand_dims(mask, -1)
                first_c = tf.expand_dims(initial_state[0], 0)
                first_h = tf.expand_dims(initial_state[1], 0)
                place = tf.stack(
                    [tf.cast(sequence_length, tf.int32), tf.range(batch)], 1
                )
                last_c = tf.gather_nd(tf.concat([first_c, cells], 0), place)
                last_h = tf.gather_nd(tf.concat([first_h, outputs], 0), place)
        state = rnn_cell.LSTMStateTuple(last_c, last_h)
        return (tf.unstack(outputs) if is_list else outputs), state
