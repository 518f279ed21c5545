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


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Wants others to be further from an example than its like, by the margin.

    That other counts which is the nearest beyond the like, or the furthest of all where
    none is beyond.
    """
    labels = tf.reshape(labels, [-1, 1])
    alike = tf.equal(labels, tf.transpose(labels))
    lengths = tf.reduce_sum(tf.square(embeddings), 1, keepdims=True)
    product = tf.matmul(embeddings, embeddings, transpose_b=True)
    distances = tf.nn.relu(lengths + tf.transpose(lengths) - 2.0 * product)
    distances = tf.linalg.set_diag(distances, tf.zeros_like(lengths[:, 0]))
    # Of each example and its like: what is neither, and further away.
    beyond = ~alike[:, None, :] & (distances[:, None, :] > distances[:, :, None])
    most = tf.reduce_max(distances, 1, keepdims=True)[..., None]
    least = tf.reduce_min(distances, 1, keepdims=True)
    counts = tf.cast(beyond, distances.dtype)
    nearest = tf.reduce_min((distances[:, None, :] - most) * counts, 2) + most[..., 0]
    others = tf.cast(~alike, distances.dtype)
    furthest = tf.reduce_max((distances - least) * others, 1, keepdims=True) + least
    chosen = tf.where(tf.reduce_any(beyond, 2), nearest, furthest)
    pairs = 1.0 - others - tf.eye(tf.size(labels))
    wanting = tf.nn.relu((margin + distances - chosen) * pairs)
    return tf.reduce_sum(wanting) / tf.reduce_sum(pairs)
