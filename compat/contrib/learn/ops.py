"""``tf.contrib.learn.ops``: small pieces of models over weights of one's own."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["categorical_variable", "mean_squared_error_regressor", "softmax_classifier"]


def mean_squared_error_regressor(
    tensor_in: Any, labels: Any, weights: Any, biases: Any, name: str | None = None
) -> tuple[Any, Any]:
    """A linear prediction, and its mean squared error."""
    with tf.name_scope(
        name, "mean_squared_error_regressor", [tensor_in, labels]
    ) as scope:
        predictions = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if len(labels.get_shape()) == 1 and len(predictions.get_shape()) == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, tf.losses.mean_squared_error(
            labels, predictions, scope=f"{scope}mean_squared_error/"
        )


def softmax_classifier(
    tensor_in: Any,
    labels: Any,
    weights: Any,
    biases: Any,
    class_weight: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Probabilities of classes, and their cross entropy with one-hot labels.

    A `class_weight` multiplies the logits, not the loss: so it always did.
    """
    with tf.name_scope(name, "softmax_classifier", [tensor_in, labels]) as scope:
        logits = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return tf.nn.softmax(logits), tf.losses.softmax_cross_entropy(
            labels, logits, scope=f"{scope}softmax_cross_entropy_loss/"
        )


def categorical_variable(
    tensor_in: Any, n_classes: int, embedding_size: int, name: str
) -> Any:
    """One vector for each number of `tensor_in`, out of a table that is trained."""
    with tf.variable_scope(name):
        table = tf.get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return tf.nn.embedding_lookup(table, tensor_in)
