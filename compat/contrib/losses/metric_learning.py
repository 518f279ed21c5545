"""``tf.contrib.losses.metric_learning``: losses of distances between embeddings."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["contrastive_loss", "triplet_semihard_loss"]


def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> Any:
    """Draws pairs of one kind together, and others apart as far as the margin."""
    difference = tf.squared_difference(embeddings_anchor, embeddings_positive)
    distances = tf.sqrt(tf.reduce_sum(difference, 1))
    same = tf.cast(labels, distances.dtype)
    apart = tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(
        same * tf.square(distances) + (1.0 - same) * apart, name="contrastive_loss"
    )


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Wants others to be further from an example than its like, by the margin.

    Of the others that one counts which is the nearest beyond its like, or the furthest
    of all where none is beyond.
    """
    shape = tf.shape(labels)
    assert shape.shape == 1
    labels = tf.reshape(labels, [shape[0], 1])
    distances = _squared_distances(embeddings)
    alike = tf.equal(labels, tf.transpose(labels))
    other = tf.logical_not(alike)
    # An example, its like, and what is neither.
    beyond = tf.logical_and(
        other[:, None, :], tf.greater(distances[:, None, :], distances[:, :, None])
    )
    counts = tf.cast(beyond, tf.float32)
    nearest = _smallest(distances[:, None, :], counts)
    furthest = _largest(distances, tf.cast(other, tf.float32))
    chosen = tf.where(
        tf.reduce_any(beyond, 2), nearest, furthest[:, None] + tf.zeros_like(nearest)
    )
    pairs = tf.cast(alike, tf.float32) - tf.diag(tf.ones([tf.size(labels)]))
    wanting = tf.maximum((margin + distances - chosen) * pairs, 0.0)
    return tf.truediv(
        tf.reduce_sum(wanting), tf.reduce_sum(pairs), name="triplet_semihard_loss"
    )


def _squared_distances(embeddings: Any) -> Any:
    """Of each from each; exactly zero where it is that, and of each from itself."""
    lengths = tf.reduce_sum(tf.square(embeddings), 1, keepdims=True)
    product = tf.matmul(embeddings, tf.transpose(embeddings))
    found = tf.maximum(lengths + tf.transpose(lengths) - 2.0 * product, 0.0)
    found *= tf.cast(tf.greater(found, 0.0), tf.float32)
    return found * (tf.ones_like(found) - tf.diag(tf.ones([tf.shape(embeddings)[0]])))


def _smallest(values: Any, counts: Any) -> Any:
    """The smallest of those of the last axis that count."""
    most = tf.reduce_max(values, -1, keepdims=True)
    return tf.reduce_min((values - most) * counts, -1) + most[..., 0]


def _largest(values: Any, counts: Any) -> Any:
    """The largest of those of the last axis that count."""
    least = tf.reduce_min(values, -1, keepdims=True)
    return tf.reduce_max((values - least) * counts, -1) + least[..., 0]
