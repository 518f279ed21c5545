"""``tf.contrib.legacy_seq2seq``: losses of lists of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["sequence_loss", "sequence_loss_by_example"]


def sequence_loss_by_example(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of each sequence, over its steps."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    losses = []
    with tf.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tf.reshape(target, [-1]), logits=logit
                )
            else:
                entropy = softmax_loss_function(labels=target, logits=logit)
            losses.append(entropy * weight)
        total = tf.add_n(losses)
        if average_across_timesteps:
            # No sequence may have a weight of nothing at all.
            total /= tf.add_n(list(weights)) + 1e-12
        return total


def sequence_loss(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of a batch of sequences."""
    with tf.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = tf.reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if average_across_batch:
            cost /= tf.cast(tf.shape(targets[0])[0], cost.dtype)
        return cost
