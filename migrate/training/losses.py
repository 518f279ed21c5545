"""Means of losses whose examples have weights."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def weighted_mean(losses: Any, weights: Any) -> Any:
    """The mean of losses times their weights, over those whose weight is not zero."""
    losses, weights = tf.convert_to_tensor(losses), tf.cast(weights, losses.dtype)
    if weights.shape.rank > losses.shape.rank:
        weights = tf.squeeze(weights, -1)
    weights = tf.broadcast_to(weights, tf.shape(losses))
    count = tf.math.count_nonzero(weights, dtype=losses.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(losses * weights), count)
