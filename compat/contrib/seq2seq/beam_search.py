"""Beam search, and the functions around it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow.compat.v1 as tf

from .decoder import Decoder
from .helpers import _embedding

__all__ = [
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "FinalBeamSearchDecoderOutput",
    "gather_tree",
    "tile_batch",
]

nest = tf.nest


class BeamSearchDecoderState(NamedTuple):
    """State of a `BeamSearchDecoder`."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """What each step puts out."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """Whole beams, best first, and the outputs of the steps."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each entry of the batch ``multiplier`` times, one after the other."""

    def tile(tensor: Any) -> Any:
        tensor = tf.convert_to_tensor(tensor, name="t")
        if tensor.get_shape().ndims is None:
            raise ValueError("t must have statically known rank")
        tiled = tf.repeat(tensor, multiplier, axis=0)
        first = tf.dimension_value(tensor.get_shape()[0])
        count = None if first is None else first * multiplier
        tiled.set_shape(tf.TensorShape([count]).concatenate(tensor.get_shape()[1:]))
        return tiled

    with tf.name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(tile, t)


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> Any:
    """Follows each beam from its last step to its first.

    Args:
      step_ids: chosen ids, [time, batch, beams].
      parent_ids: the beam of the step before that each came from, same shape.
      max_sequence_lengths: steps of the longest beam, [batch].
      end_token: what stands behind the end of a beam.
      name: of the operations.
    """
    with tf.name_scope(name, "GatherTree", [step_ids, parent_ids]):
        steps = tf.convert_to_tensor(step_ids)
        parents = tf.convert_to_tensor(parent_ids)
        shape = tf.shape(steps)
        time, batch, width = shape[0], shape[1], shape[2]
        longest = tf.minimum(time, tf.cast(max_sequence_lengths, tf.int32))
        end = tf.cast(end_token, steps.dtype)
        own = tf.tile(tf.range(width)[None, :], [batch, 1])
        blank = tf.fill([batch, width], end)

        def back(carried: Any, number: Any) -> Any:
            beam, _ = carried
            inside = (number < longest)[:, None]
            inside = tf.tile(inside, [1, width])
            chosen = tf.gather(steps[number], beam, batch_dims=1)
            parent = tf.gather(parents[number], beam, batch_dims=1)
            return (
                tf.where(inside, parent, beam),
                tf.where(inside, chosen, blank),
            )

        _, found = tf.scan(back, tf.range(time), initializer=(own, blank), reverse=True)
        # Whatever follows the first end token is an end token as well.
        ended = tf.cumsum(tf.cast(tf.equal(found, end), tf.int32), exclusive=True) > 0
        result = tf.where(ended, tf.fill(shape, end), found)
        result.set_shape(steps.get_shape())
        return result


class BeamSearchDecoder(Decoder):
    """Keeps the ``beam_width`` likeliest continuations of each sequence.

    The initial state must have been tiled with `tile_batch`. Coverage penalties
    are not available.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        if coverage_penalty_weight:
            raise ValueError(
                "coverage_penalty_weight is not available on this TensorFlow: leave it "
                "at 0, or decode with a length penalty."
            )
        del reorder_tensor_arrays  # arrays of the state are left as they were written
        self._cell = cell
        self._output_layer = output_layer
        self._embedding_fn = _embedding(embedding)
        start = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        if start.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = tf.convert_to_tensor(
            end_token, dtype=tf.int32, name="end_token"
        )
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._width = beam_width
        self._penalty = length_penalty_weight
        static = tf.dimension_value(start.get_shape()[0])
        self._batch_size = tf.size(start) if static is None else static
        self._initial_cell_state = nest.map_structure(self._split, initial_state)
        tiled = tf.tile(start[:, None], [1, beam_width])
        self._start_inputs = self._embedding_fn(tiled)

    def _split(self, tensor: Any) -> Any:
        """[batch * beams, ...] to [batch, beams, ...]; scalars and arrays stay."""
        if isinstance(tensor, tf.TensorArray) or not tensor.get_shape().ndims:
            return tensor
        rest = tf.shape(tensor)[1:]
        made = tf.reshape(tensor, tf.concat([[self._batch_size, self._width], rest], 0))
        batch = self._batch_size if isinstance(self._batch_size, int) else None
        made.set_shape(
            tf.TensorShape([batch, self._width]).concatenate(tensor.get_shape()[1:])
        )
        return made

    def _merge(self, tensor: Any) -> Any:
        """The reverse of `_split`."""
        rank = 2
        if isinstance(tensor, tf.TensorArray) or (tensor.get_shape().ndims or 0) < rank:
            return tensor
        rest = tf.shape(tensor)[2:]
        count = self._batch_size * self._width
        made = tf.reshape(tensor, tf.concat([[count], rest], 0))
        static = count if isinstance(count, int) else None
        made.set_shape(tf.TensorShape([static]).concatenate(tensor.get_shape()[2:]))
        return made

    @property
    def batch_size(self) -> Any:
        """Number of sequences."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change places, so a finished one may come back unfinished."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """One number for each beam."""
        return BeamSearchDecoderOutput(*[tf.TensorShape([self._width])] * 3)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """Scores have the type of the state."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(dtype, tf.int32, tf.int32)

    def initialize(self, name: str | None = None) -> Any:
        """One live beam for each sequence; the others cannot win yet."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        batch, width = self._batch_size, self._width
        finished = tf.fill([batch, width], False)
        log_probs = tf.one_hot(
            tf.zeros([batch], tf.int32),
            width,
            on_value=tf.constant(0.0, dtype),
            off_value=tf.constant(-np.inf, dtype),
            dtype=dtype,
        )
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=finished,
            lengths=tf.zeros([batch, width], tf.int64),
            accumulated_attention_probs=(),
        )
        return finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """One step of the cell for all beams, then the choice of the best."""
        with tf.name_scope(name, "BeamSearchDecoderStep", [time]):
            outputs, cell_state = self._cell(
                nest.map_structure(self._merge, inputs),
                nest.map_structure(self._merge, state.cell_state),
            )
            outputs = self._split(outputs)
            cell_state = nest.map_structure(self._split, cell_state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, state = self._choose(outputs, cell_state, state)
            ids = output.predicted_ids
            inputs = tf.cond(
                tf.reduce_all(state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(ids),
            )
        return output, state, inputs, state.finished

    def _choose(self, logits: Any, cell_state: Any, state: Any) -> tuple[Any, Any]:
        width = self._width
        vocabulary = tf.dimension_value(logits.get_shape()[-1])
        if vocabulary is None:
            vocabulary = tf.shape(logits)[-1]
        step = tf.nn.log_softmax(logits)
        # A finished beam goes on with end tokens only, at no cost.
        only_end = tf.one_hot(
            self._end_token,
            vocabulary,
            on_value=tf.constant(0.0, step.dtype),
            off_value=step.dtype.min,
            dtype=step.dtype,
        )
        done = tf.cast(state.finished, step.dtype)[:, :, None]
        step = done * only_end + (1.0 - done) * step
        total = state.log_probs[:, :, None] + step
        grows = tf.one_hot(
            self._end_token, vocabulary, on_value=0, off_value=1, dtype=tf.int64
        )
        alive = tf.cast(tf.logical_not(state.finished), tf.int64)[:, :, None]
        lengths = alive * grows + state.lengths[:, :, None]
        scores = total / self._length_penalty(lengths, total.dtype)
        best, places = tf.nn.top_k(tf.reshape(scores, [self._batch_size, -1]), k=width)
        beams = places // vocabulary
        ids = places % vocabulary

        def pick(tensor: Any) -> Any:
            rank = 2
            if isinstance(tensor, tf.TensorArray):
                return tensor
            if (tensor.get_shape().ndims or 0) < rank:
                return tensor
            picked = tf.gather(tensor, beams, batch_dims=1)
            picked.set_shape(tensor.get_shape())
            return picked

        log_probs = tf.gather(
            tf.reshape(total, [self._batch_size, -1]), places, batch_dims=1
        )
        finished = pick(state.finished)
        longer = tf.cast(tf.logical_not(finished), tf.int64)
        next_state = BeamSearchDecoderState(
            cell_state=nest.map_structure(pick, cell_state),
            log_probs=log_probs,
            finished=tf.logical_or(finished, tf.equal(ids, self._end_token)),
            lengths=pick(state.lengths) + longer,
            accumulated_attention_probs=(),
        )
        shape = state.finished.get_shape()
        for tensor in (best, ids, beams, log_probs, next_state.finished):
            tensor.set_shape(shape)
        return BeamSearchDecoderOutput(best, ids, beams), next_state

    def _length_penalty(self, lengths: Any, dtype: Any) -> Any:
        if not self._penalty:
            return 1.0
        longer = (5.0 + tf.cast(lengths, dtype)) ** self._penalty
        return longer / (6.0**self._penalty)

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Whole beams from the choices of the steps."""
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        whole = gather_tree(
            outputs.predicted_ids,
            outputs.parent_ids,
            max_sequence_lengths=longest,
            end_token=self._end_token,
        )
        return FinalBeamSearchDecoderOutput(whole, outputs), final_state
