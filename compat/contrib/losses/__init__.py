"""``tf.contrib.losses``: predictions come first here, labels second."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from . import metric_learning

__all__ = [
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "metric_learning",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]

add_loss = tf.losses.add_loss
get_losses = tf.losses.get_losses
get_regularization_losses = tf.losses.get_regularization_losses
get_total_loss = tf.losses.get_total_loss
compute_weighted_loss = tf.losses.compute_weighted_loss


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    """Mean absolute difference."""
    return tf.losses.absolute_difference(labels, predictions, weights, scope)


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    """Mean squared difference."""
    return tf.losses.mean_squared_error(labels, predictions, weights, scope)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    """Mean squared difference between pairs of elements of an example.

    It averages over all ordered pairs, an element with itself included;
    ``tf.losses.mean_pairwise_squared_error`` leaves those out.
    """
    with tf.name_scope(scope, "mean_pairwise_squared_error", [predictions, labels]):
        delta = tf.cast(predictions, tf.float32) - tf.cast(labels, tf.float32)
        flat = tf.reshape(delta, [tf.shape(delta)[0], -1])
        size = tf.cast(tf.shape(flat)[1], tf.float32)
        squares = tf.reduce_sum(tf.square(flat), 1) / size
        means = tf.square(tf.reduce_sum(flat, 1) / size)
        losses = 2.0 * (squares - means)
        weights = tf.cast(weights, tf.float32)
        if weights.get_shape().ndims:
            weights = tf.reshape(weights, [-1])
        total = tf.reduce_sum(losses * weights)
        tf.losses.add_loss(total)
        return total


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: Any = None,
    weights: Any = 1.0,
    scope: Any = None,
    dim: Any = None,
) -> Any:
    """One minus the cosine of unit vectors."""
    axis = dim if axis is None else axis
    return tf.losses.cosine_distance(
        labels, predictions, axis=axis, weights=weights, scope=scope
    )


def hinge_loss(logits: Any, labels: Any = None, scope: Any = None) -> Any:
    """The elementwise hinge loss: nothing is reduced or collected."""
    with tf.name_scope(scope, "hinge_loss", [logits, labels]):
        labels = tf.cast(labels, tf.float32)
        return tf.nn.relu(1.0 - (2.0 * labels - 1.0) * logits)


def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Any = None,
) -> Any:
    """Binary cross entropy of probabilities."""
    return tf.losses.log_loss(labels, predictions, weights, epsilon, scope)


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
) -> Any:
    """Mean sigmoid cross entropy."""
    return tf.losses.sigmoid_cross_entropy(
        multi_class_labels, logits, weights, label_smoothing, scope
    )


def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
) -> Any:
    """Mean softmax cross entropy."""
    return tf.losses.softmax_cross_entropy(
        onehot_labels, logits, weights, label_smoothing, scope
    )


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: Any = None
) -> Any:
    """Mean softmax cross entropy for class numbers."""
    return tf.losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)
