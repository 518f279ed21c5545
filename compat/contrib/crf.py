"""``tf.contrib.crf``: linear-chain conditional random fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "crf_binary_score",
    "crf_decode",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_multitag_sequence_score",
    "crf_sequence_score",
    "crf_unary_score",
    "viterbi_decode",
]


def _steps(inputs: Any) -> Any:
    return tf.dimension_value(inputs.get_shape()[1]) or tf.shape(inputs)[1]


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The summed scores of the tags themselves."""
    depth = tf.shape(inputs)[2]
    chosen = tf.one_hot(tag_indices, depth, dtype=inputs.dtype)
    mask = tf.sequence_mask(
        sequence_lengths, maxlen=tf.shape(tag_indices)[1], dtype=inputs.dtype
    )
    return tf.reduce_sum(tf.reduce_sum(inputs * chosen, 2) * mask, 1)


def crf_binary_score(
    tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The summed scores of the transitions between tags."""
    count = tf.shape(transition_params)[0]
    first, second = tag_indices[:, :-1], tag_indices[:, 1:]
    flat = tf.reshape(transition_params, [-1])
    scores = tf.gather(flat, first * tf.cast(count, first.dtype) + second)
    mask = tf.sequence_mask(
        sequence_lengths - 1, maxlen=tf.shape(first)[1], dtype=scores.dtype
    )
    return tf.reduce_sum(scores * mask, 1)


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The unnormalised score of a tag sequence; 0 for empty sequences."""
    score = crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(
        tag_indices, sequence_lengths, transition_params
    )
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(score), score)


def _forward(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The log-sum of all paths into each tag at the end of each sequence."""
    lengths = tf.cast(sequence_lengths, tf.int32)
    transitions = tf.expand_dims(transition_params, 0)
    by_time = tf.transpose(inputs, [1, 0, 2])
    start = by_time[0]

    def step(time: Any, alphas: Any) -> tuple[Any, Any]:
        paths = tf.expand_dims(alphas, 2) + transitions
        new = by_time[time] + tf.reduce_logsumexp(paths, [1])
        alive = tf.expand_dims(tf.less(time, lengths), 1)
        alive = tf.broadcast_to(alive, tf.shape(new))
        return time + 1, tf.where(alive, new, alphas)

    _, alphas = tf.while_loop(
        lambda time, _: tf.less(time, tf.shape(inputs)[1]),
        step,
        [tf.constant(1), start],
        shape_invariants=[tf.TensorShape([]), start.get_shape()],
    )
    return alphas


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The log of the summed scores of all tag sequences; 0 for empty ones."""
    norm = tf.reduce_logsumexp(
        _forward(inputs, sequence_lengths, transition_params), [1]
    )
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(norm), norm)


def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The log-summed score of all tag sequences that a bitmap allows."""
    allowed = tf.cast(tag_bitmap, tf.bool)
    filtered = tf.where(allowed, inputs, tf.fill(tf.shape(inputs), float("-inf")))
    return crf_log_norm(filtered, sequence_lengths, transition_params)


def crf_log_likelihood(
    inputs: Any,
    tag_indices: Any,
    sequence_lengths: Any,
    transition_params: Any = None,
) -> tuple[Any, Any]:
    """The log-likelihood of tag sequences, and the transition scores used."""
    count = tf.dimension_value(inputs.get_shape()[2])
    if transition_params is None:
        transition_params = tf.get_variable("transitions", [count, count])
    scores = crf_sequence_score(
        inputs, tag_indices, sequence_lengths, transition_params
    )
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return scores - norm, transition_params


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """The best tag sequence of one example, computed with numpy."""
    score = np.asarray(score)
    trellis = np.zeros_like(score)
    back = np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for step in range(1, score.shape[0]):
        paths = np.expand_dims(trellis[step - 1], 1) + transition_params
        trellis[step] = score[step] + np.max(paths, 0)
        back[step] = np.argmax(paths, 0)
    best = [int(np.argmax(trellis[-1]))]
    for pointers in reversed(back[1:]):
        best.append(int(pointers[best[-1]]))
    best.reverse()
    return best, np.max(trellis[-1])


def crf_decode(
    potentials: Any, transition_params: Any, sequence_length: Any
) -> tuple[Any, Any]:
    """The best tag sequence of each example, and its score."""
    lengths = tf.cast(sequence_length, tf.int32)
    transitions = tf.expand_dims(transition_params, 0)
    by_time = tf.transpose(potentials, [1, 0, 2])
    count = _steps(potentials)
    tags = tf.dimension_value(potentials.get_shape()[2])
    batch = tf.shape(potentials)[0]
    identity = tf.tile(
        tf.expand_dims(tf.range(tags, dtype=tf.int32), 0), tf.stack([batch, 1])
    )
    pointers = tf.TensorArray(tf.int32, size=count, element_shape=[None, tags])
    pointers = pointers.write(0, identity)

    def step(time: Any, best: Any, pointers: Any) -> tuple[Any, Any, Any]:
        paths = tf.expand_dims(best, 2) + transitions
        new = by_time[time] + tf.reduce_max(paths, [1])
        back = tf.argmax(paths, 1, output_type=tf.int32)
        alive = tf.broadcast_to(
            tf.expand_dims(tf.less(time, lengths), 1), tf.shape(new)
        )
        # Past its end a sequence keeps its scores and points to itself.
        pointers = pointers.write(time, tf.where(alive, back, identity))
        return time + 1, tf.where(alive, new, best), pointers

    _, best, pointers = tf.while_loop(
        lambda time, *_: tf.less(time, count),
        step,
        [tf.constant(1), by_time[0], pointers],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([None, tags]),
            tf.TensorShape(None),
        ],
    )
    last = tf.argmax(best, 1, output_type=tf.int32)
    found = tf.TensorArray(tf.int32, size=count, element_shape=[None])

    def follow(time: Any, tag: Any, found: Any) -> tuple[Any, Any, Any]:
        found = found.write(time, tag)
        place = tf.stack([tf.range(batch), tag], 1)
        return time - 1, tf.gather_nd(pointers.read(time), place), found

    _, _, found = tf.while_loop(
        lambda time, *_: tf.greater_equal(time, 0),
        follow,
        [tf.convert_to_tensor(count) - 1, last, found],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([None]),
            tf.TensorShape(None),
        ],
    )
    decoded = tf.transpose(found.stack())
    # TF 1's decoder gave tag 0 past the end of a sequence.
    decoded = decoded * tf.sequence_mask(lengths, tf.shape(decoded)[1], dtype=tf.int32)
    decoded.set_shape([potentials.get_shape()[0], potentials.get_shape()[1]])
    return decoded, tf.reduce_max(best, axis=1)
