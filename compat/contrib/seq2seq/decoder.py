"""The decoding loop, and the decoder that a helper feeds."""

from __future__ import annotations

import abc
import contextlib
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from .helpers import Helper

__all__ = ["BasicDecoder", "BasicDecoderOutput", "Decoder", "dynamic_decode"]

nest = tf.nest


class Decoder(abc.ABC):
    """Makes the outputs of a sequence, one step at a time."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """Number of sequences."""

    @property
    @abc.abstractmethod
    def output_size(self) -> Any:
        """Shapes of the outputs of one step, without the batch."""

    @property
    @abc.abstractmethod
    def output_dtype(self) -> Any:
        """Types of the outputs."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state)."""

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(outputs, next state, next inputs, finished)."""

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """What is made of the outputs of all steps, if anything."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a finished sequence may become unfinished, as beams do."""
        return False


class BasicDecoderOutput(NamedTuple):
    """Outputs of a `BasicDecoder`."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """Runs a cell on what its helper gives it."""

    def __init__(
        self, cell: Any, helper: Helper, initial_state: Any, output_layer: Any = None
    ) -> None:
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        """Number of sequences."""
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        size = self._cell.output_size
        if self._output_layer is None:
            return size
        # A layer on [batch, depth] says what becomes of the depth.
        shapes = nest.map_structure(
            lambda s: tf.TensorShape([None]).concatenate(s), size
        )
        made = self._output_layer.compute_output_shape(shapes)
        return nest.map_structure(lambda s: tf.TensorShape(s)[1:], made)

    @property
    def output_size(self) -> BasicDecoderOutput:
        """Shapes of one step."""
        return BasicDecoderOutput(
            self._rnn_output_size(), self._helper.sample_ids_shape
        )

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The outputs have the type of the state."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, self._rnn_output_size()),
            self._helper.sample_ids_dtype,
        )

    def initialize(self, name: str | None = None) -> Any:
        """The helper's start, and the given state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """One step of the cell."""
        with tf.name_scope(name, "BasicDecoderStep", [time]):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=ids
            )
        return BasicDecoderOutput(outputs, ids), state, inputs, finished


def _transpose(tensor: Any) -> Any:
    rank = tensor.get_shape().ndims
    if rank is None or rank < 2:
        return tensor
    return tf.transpose(tensor, [1, 0, *range(2, rank)])


def _choose(finished: Any, kept: Any, new: Any) -> Any:
    """``kept`` where a sequence had ended; scalars and arrays stay what is new."""
    if isinstance(kept, tf.TensorArray) or not kept.get_shape().ndims:
        return new
    new.set_shape(kept.get_shape())
    return tf.where(finished, kept, new)


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Steps a decoder until every sequence has ended.

    Args:
      decoder: what to step.
      output_time_major: leave time in front of the batch in the outputs.
      impute_finished: outputs after the end are zero, and the state stays.
      maximum_iterations: end after so many steps at the latest.
      parallel_iterations: passed to the loop.
      swap_memory: passed to the loop.
      scope: variable scope of the decoder, ``decoder`` by default.
      **kwargs: passed to the decoder's ``initialize`` and ``step``.

    Returns:
      Outputs of all steps, the last state, and the length of each sequence.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(
            f"Expected decoder to be type Decoder, but saw: {type(decoder)}"
        )
    with tf.variable_scope(scope, "decoder"):
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(
                maximum_iterations, dtype=tf.int32, name="maximum_iterations"
            )
            if maximum_iterations.get_shape().ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        # A decoder that is a layer is given what it was called with.
        if "decoder_init_input" in kwargs:
            called: Any = decoder
            rows = kwargs.pop("decoder_init_input")
            given = kwargs.pop("decoder_init_kwargs")
            finished, inputs, state = called.initialize(rows, **given)
        else:
            finished, inputs, state = decoder.initialize(**kwargs)
        if maximum_iterations is not None:
            finished = tf.logical_or(finished, maximum_iterations <= 0)
        dtypes = decoder.output_dtype
        batch = decoder.batch_size
        static = tf.get_static_value(tf.convert_to_tensor(batch))
        batch_shape = tf.TensorShape([None if static is None else int(static)])

        def shape_of(size: Any) -> Any:
            return batch_shape.concatenate(tf.TensorShape(size))

        # Sizes may be numbers, lists or shapes: the types say how they nest.
        flat_dtypes = nest.flatten(dtypes)
        sizes = nest.flatten(_as_shapes(decoder.output_size, dtypes))
        arrays = nest.pack_sequence_as(
            dtypes,
            [
                tf.TensorArray(
                    dtype, 0, dynamic_size=True, element_shape=shape_of(size)
                )
                for dtype, size in zip(flat_dtypes, sizes, strict=True)
            ],
        )
        blank = [
            tf.zeros(tf.concat([[batch], _dimensions(size)], 0), dtype)
            for dtype, size in zip(flat_dtypes, sizes, strict=True)
        ]
        lengths = tf.zeros_like(finished, dtype=tf.int32)

        def more(
            _time: Any, _arrays: Any, _s: Any, _i: Any, ended: Any, _l: Any
        ) -> Any:
            return tf.logical_not(tf.reduce_all(ended))

        def body(
            time: Any, arrays: Any, state: Any, inputs: Any, ended: Any, lengths: Any
        ) -> Any:
            outputs, next_state, next_inputs, done = decoder.step(
                time, inputs, state, **kwargs
            )
            if not decoder.tracks_own_finished:
                done = tf.logical_or(done, ended)
            lengths = tf.where(
                tf.logical_not(ended), tf.fill(tf.shape(lengths), time + 1), lengths
            )
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(arrays, outputs)
            flat = nest.flatten(outputs)
            if impute_finished:
                flat = [
                    tf.where(ended, zero, out)
                    for zero, out in zip(blank, flat, strict=True)
                ]
                next_state = nest.map_structure(
                    lambda kept, new: _choose(ended, kept, new), state, next_state
                )
            written = [
                array.write(time, out)
                for array, out in zip(nest.flatten(arrays), flat, strict=True)
            ]
            arrays = nest.pack_sequence_as(dtypes, written)
            return time + 1, arrays, next_state, next_inputs, done, lengths

        start = (tf.constant(0), arrays, state, inputs, finished, lengths)
        _, arrays, state, _, _, lengths = tf.while_loop(
            more,
            body,
            start,
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        # Most decoders leave it out.
        with contextlib.suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(_transpose, outputs)
    return outputs, state, lengths


def _as_shapes(sizes: Any, like: Any) -> Any:
    """The sizes as one TensorShape for each element of ``like``."""
    if isinstance(like, tuple) and isinstance(sizes, tuple):
        made = [_as_shapes(s, part) for s, part in zip(sizes, like, strict=True)]
        return type(like)(*made) if hasattr(like, "_fields") else tuple(made)
    return tf.TensorShape(sizes)


def _dimensions(size: Any) -> Any:
    # A list that may be empty needs its type said.
    return tf.constant(tf.TensorShape(size).as_list(), dtype=tf.int32)
