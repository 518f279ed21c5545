"""Unrolled and stacked recurrences of ``tf.contrib.rnn``."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "best_effort_input_batch_size",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]

static_bidirectional_rnn = tf.nn.static_bidirectional_rnn
static_rnn = tf.nn.static_rnn
static_state_saving_rnn = tf.nn.static_state_saving_rnn


def transpose_batch_time(x: Any) -> Any:
    """Swap the first two dimensions."""
    x = tf.convert_to_tensor(x)
    rank = x.get_shape().ndims
    if rank is not None and rank < 2:
        raise ValueError(f"Expected input tensor {x} to have rank at least 2")
    order = [1, 0, *range(2, rank)] if rank is not None else None
    if order is None:
        order = tf.concat(([1, 0], tf.range(2, tf.rank(x))), axis=0)
    return tf.transpose(x, order)


def best_effort_input_batch_size(flat_input: Any) -> Any:
    """The batch size of time-major inputs, as a number if it is known."""
    for tensor in flat_input:
        shape = tensor.get_shape()
        if shape.ndims is not None and shape.ndims >= 2:
            size = tf.dimension_value(shape[1])
            if size is not None:
                return size
    return tf.shape(flat_input[0])[1]


def _check(cells_fw: Any, cells_bw: Any) -> None:
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise ValueError(f"{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")


def _initial(states: Any, number: int) -> Any:
    return states[number] if states is not None else None


def stack_bidirectional_dynamic_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: Any = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, Any, Any]:
    """Bidirectional layers, each on the joined outputs of the one below."""
    _check(cells_fw, cells_bw)
    states_fw, states_bw = [], []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (fw, bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with tf.variable_scope(f"cell_{number}"):
                outputs, (state_fw, state_bw) = tf.nn.bidirectional_dynamic_rnn(
                    fw,
                    bw,
                    inputs,
                    initial_state_fw=_initial(initial_states_fw, number),
                    initial_state_bw=_initial(initial_states_bw, number),
                    sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations,
                    dtype=dtype,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                inputs = tf.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """`stack_bidirectional_dynamic_rnn` over a list of steps."""
    _check(cells_fw, cells_bw)
    states_fw, states_bw = [], []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (fw, bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with tf.variable_scope(f"cell_{number}") as place:
                inputs, state_fw, state_bw = tf.nn.static_bidirectional_rnn(
                    fw,
                    bw,
                    inputs,
                    _initial(initial_states_fw, number),
                    _initial(initial_states_bw, number),
                    sequence_length=sequence_length,
                    dtype=dtype,
                    scope=place,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)
