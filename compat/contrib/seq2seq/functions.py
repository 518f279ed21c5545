"""Losses and small functions of ``tf.contrib.seq2seq``."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["hardmax", "monotonic_attention", "safe_cumprod", "sequence_loss"]

_NONZERO = 1e-12


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Any:
    """Weighted cross-entropy of sequences, averaged or summed as wanted.

    Averages divide by the sum of the weights, sums by the number of weights that
    are not zero; with neither, the loss of each step is returned.
    """
    for what, tensor, rank in (
        ("Logits", logits, 3),
        ("Targets", targets, 2),
        ("Weights", weights, 2),
    ):
        if tensor.get_shape().ndims != rank:
            raise ValueError(f"{what} must have {rank} dimensions")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError(
            "average_across_timesteps and sum_over_timesteps cannot both be True"
        )
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot both be True")
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        labels = tf.reshape(targets, [-1])
        if softmax_loss_function is None:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=flat
            )
        else:
            losses = softmax_loss_function(labels=labels, logits=flat)
        losses = tf.reshape(losses, tf.shape(logits)[:2]) * weights
        averaged = (average_across_batch, average_across_timesteps)
        summed = (sum_over_batch, sum_over_timesteps)
        axes = [axis for axis in (0, 1) if averaged[axis] or summed[axis]]
        if not axes:
            return losses
        if any(averaged[axis] for axis in axes):
            total = tf.reduce_sum(weights, axes)
        else:
            total = tf.cast(tf.count_nonzero(weights, axes), losses.dtype)
        return tf.reduce_sum(losses, axes) / (total + _NONZERO)


def hardmax(logits: Any, name: str | None = None) -> Any:
    """One at the largest of the last dimension, zero elsewhere."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        depth = tf.dimension_value(logits.get_shape()[-1])
        if depth is None:
            depth = tf.shape(logits)[-1]
        return tf.one_hot(tf.argmax(logits, -1), depth, dtype=logits.dtype)


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """A cumulative product by way of logarithms, which has finite gradients."""
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x)
        smallest = x.dtype.as_numpy_dtype(0) + _tiny(x.dtype)
        logs = tf.log(tf.clip_by_value(x, smallest, 1))
        return tf.exp(tf.cumsum(logs, *args, **kwargs))


def _tiny(dtype: Any) -> Any:
    import numpy as np

    return np.finfo(dtype.as_numpy_dtype).tiny


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """Where a reader that only moves forward attends to, by chance or by choice.

    Args:
      p_choose_i: probability to stop at each memory entry, [batch, entries].
      previous_attention: the attention of the step before, same shape.
      mode: "recursive" (exact), "parallel" (exact up to underflow) or "hard".
    """
    p = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch = tf.dimension_value(p.get_shape()[0])
        batch = tf.shape(p)[0] if batch is None else batch
        passed = tf.concat([tf.ones([batch, 1], p.dtype), 1 - p[:, :-1]], 1)
        attention = p * tf.transpose(
            tf.scan(
                lambda x, row: tf.reshape(row[0] * x + row[1], (batch,)),
                [tf.transpose(passed), tf.transpose(previous)],
                tf.zeros((batch,), p.dtype),
            )
        )
        attention.set_shape(p.get_shape())
        return attention
    if mode == "parallel":
        survived = safe_cumprod(1 - p, axis=1, exclusive=True)
        # The clip keeps the quotient finite where nothing survives.
        reached = tf.cumsum(previous / tf.clip_by_value(survived, 1e-10, 1.0), axis=1)
        return p * survived * reached
    if mode == "hard":
        allowed = p * tf.cumsum(previous, axis=1)
        return allowed * tf.cumprod(1 - allowed, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")
