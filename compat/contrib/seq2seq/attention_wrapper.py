"""The cell that attends to a memory at each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from ..rnn.cells import RNNCell
from .attention import AttentionMechanism, dense_layer

__all__ = ["AttentionWrapper", "AttentionWrapperState"]

nest = tf.nest


class AttentionWrapperState(NamedTuple):
    """State of an `AttentionWrapper`."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The same with some parts replaced; known shapes are kept."""

        def keep_shape(old: Any, new: Any) -> Any:
            if tf.is_tensor(old) and tf.is_tensor(new):
                new.set_shape(old.get_shape())
            return new

        replaced = self._replace(**kwargs)
        return AttentionWrapperState(
            *nest.map_structure(keep_shape, tuple(self), tuple(replaced))
        )


def _attend(
    mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any
) -> tuple[Any, Any, Any]:
    """(attention, alignments, next state) of one mechanism."""
    alignments, next_state = mechanism(cell_output, state=attention_state)
    context = tf.matmul(tf.expand_dims(alignments, 1), mechanism.values)
    context = tf.squeeze(context, [1])
    if attention_layer is None:
        return context, alignments, next_state
    joined = tf.concat([cell_output, context], 1)
    return attention_layer(joined), alignments, next_state


class AttentionWrapper(RNNCell):
    """A cell that reads a memory after each step."""

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._mechanisms: tuple[Any, ...] = (
            tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        )
        for mechanism in self._mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must contain only instances of "
                    f"AttentionMechanism, saw type: {type(mechanism).__name__}"
                )
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError(
                "Only one of attention_layer_size and attention_layer should be set"
            )
        self._cell = cell
        self._layers = self._attention_layers(attention_layer_size, attention_layer)
        self._cell_input_fn = cell_input_fn or (
            lambda inputs, attention: tf.concat([inputs, attention], -1)
        )
        self._attention_fn = attention_fn or _attend
        self._output_attention = output_attention
        self._history = alignment_history
        with tf.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = initial_cell_state

    def _attention_layers(self, size: Any, given: Any) -> list[Any]:
        many = len(self._mechanisms)
        if size is not None:
            sizes: Sequence[Any] = size if isinstance(size, list | tuple) else (size,)
            made = [dense_layer(each, "attention_layer", tf.float32) for each in sizes]
        elif given is not None:
            made = list(given) if isinstance(given, list | tuple) else [given]
        else:
            made = [None] * many
        if len(made) != many:
            raise ValueError(
                "There must be one attention layer for each attention mechanism, "
                f"saw: {len(made)} vs {many}"
            )
        return made

    def _sizes(self) -> list[int]:
        sizes = []
        for mechanism, layer in zip(self._mechanisms, self._layers, strict=True):
            depth = tf.dimension_value(mechanism.values.get_shape()[-1])
            if layer is not None:
                width = tf.TensorShape(self._cell.output_size).num_elements()
                shape = layer.compute_output_shape([None, width + depth])
                depth = tf.dimension_value(tf.TensorShape(shape)[-1])
            sizes.append(int(depth))
        return sizes

    def _one_or_many(self, values: Any) -> Any:
        values = tuple(values)
        return values if self._is_multi else values[0]

    @property
    def output_size(self) -> Any:
        """Of the attention, or of the cell."""
        return sum(self._sizes()) if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """Sizes of the parts of the state."""
        alignments = self._one_or_many(a.alignments_size for a in self._mechanisms)
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=sum(self._sizes()),
            time=tf.TensorShape([]),
            alignments=alignments,
            alignment_history=self._one_or_many(
                a.alignments_size if self._history else () for a in self._mechanisms
            ),
            attention_state=self._one_or_many(a.state_size for a in self._mechanisms),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The state before the first step."""
        with tf.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = nest.map_structure(tf.identity, self._initial_cell_state)
            else:
                cell_state = self._cell.zero_state(batch_size, dtype)
            alignments = [
                a.initial_alignments(batch_size, dtype) for a in self._mechanisms
            ]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=tf.zeros([], tf.int32),
                attention=tf.zeros([batch_size, sum(self._sizes())], dtype),
                alignments=self._one_or_many(alignments),
                attention_state=self._one_or_many(
                    a.initial_state(batch_size, dtype) for a in self._mechanisms
                ),
                alignment_history=self._one_or_many(
                    tf.TensorArray(
                        dtype, 0, dynamic_size=True, element_shape=a.get_shape()
                    )
                    if self._history
                    else ()
                    for a in alignments
                ),
            )

    def call(self, inputs: Any, state: Any) -> tuple[Any, AttentionWrapperState]:
        """One step of the cell, then one look at each memory."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. "
                f"Received type {type(state)} instead."
            )
        cell_output, cell_state = self._cell(
            self._cell_input_fn(inputs, state.attention), state.cell_state
        )
        many = self._is_multi
        previous = state.attention_state if many else (state.attention_state,)
        history = state.alignment_history if many else (state.alignment_history,)
        parts = [
            self._attention_fn(mechanism, cell_output, before, layer)
            for mechanism, before, layer in zip(
                self._mechanisms, previous, self._layers, strict=True
            )
        ]
        attention = tf.concat([part[0] for part in parts], 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._one_or_many(part[2] for part in parts),
            alignments=self._one_or_many(part[1] for part in parts),
            alignment_history=self._one_or_many(
                past.write(state.time, part[1]) if self._history else ()
                for past, part in zip(history, parts, strict=True)
            ),
        )
        return (attention if self._output_attention else cell_output), next_state
