"""Linear chains of tags: how likely they are, and which is the likeliest."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> tuple[Any, Any]:
    """The log of how likely each chain of tags is, and the scores of transitions."""
    steps = tf.shape(inputs)[1]
    mask = tf.sequence_mask(sequence_lengths, steps)
    there = tf.cast(mask, inputs.dtype)
    tags = tf.one_hot(tag_indices, tf.shape(inputs)[2], dtype=inputs.dtype)
    moves = tf.matmul(tags[:, :-1], transition_params)
    score = tf.reduce_sum(tf.reduce_sum(inputs * tags, 2) * there, 1)
    score += tf.reduce_sum(tf.reduce_sum(moves * tags[:, 1:], 2) * there[:, 1:], 1)

    def step(total: Any, time: Any) -> Any:
        ahead = tf.reduce_logsumexp(total[:, :, None] + transition_params, 1)
        return tf.where(mask[:, time, None], ahead + inputs[:, time], total)

    total = tf.foldl(step, tf.range(1, steps), inputs[:, 0])
    total = tf.reduce_logsumexp(total, 1)
    likelihood = tf.where(sequence_lengths > 0, score - total, tf.zeros_like(score))
    return likelihood, transition_params


def crf_decode(
    potentials: Any, transition_params: Any, sequence_length: Any
) -> tuple[Any, Any]:
    """The likeliest tags of each chain, 0 behind its end, and their score."""
    batch, steps, count = tf.unstack(tf.shape(potentials))
    mask = tf.sequence_mask(sequence_length, steps)
    stay = tf.tile(tf.range(count)[None], [batch, 1])

    def step(state: Any, time: Any) -> Any:
        paths = state[0][:, :, None] + transition_params
        best = tf.reduce_max(paths, 1) + potentials[:, time]
        back = tf.argmax(paths, 1, output_type=tf.int32)
        here = mask[:, time, None]
        return tf.where(here, best, state[0]), tf.where(here, back, stay)

    first = potentials[:, 0], stay
    scores, back = tf.scan(step, tf.range(1, steps), first)
    scores = tf.concat([first[0][None], scores], 0)[-1]
    last = tf.argmax(scores, 1, output_type=tf.int32)
    tags = tf.scan(
        lambda tag, pointers: tf.gather(pointers, tag, batch_dims=1),
        back,
        last,
        reverse=True,
    )
    tags = tf.transpose(tf.concat([tags, last[None]], 0))
    return tags * tf.cast(mask, tags.dtype), tf.reduce_max(scores, 1)
