"""``tf.contrib.learn.models``: a linear and a logistic regression in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from .ops import mean_squared_error_regressor, softmax_classifier

__all__ = [
    "linear_regression",
    "linear_regression_zero_init",
    "logistic_regression",
    "logistic_regression_zero_init",
]


def linear_regression(
    x: Any, y: Any, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[Any, Any]:
    """Predictions and mean squared error of weights over `x`.

    Args:
      x: the features, of shape (batch, features).
      y: the targets, of shape (batch,) or (batch, outputs).
      init_mean: draw weights and bias from a normal distribution around it; None
        for the scope's initializer.
      init_stddev: how wide that distribution is.
    """
    outputs = 1 if len(y.shape) == 1 else y.shape[1]
    with tf.variable_scope("linear_regression"):
        weights, bias = _weights(
            "linear_regression", x, y, outputs, init_mean, init_stddev
        )
        return mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(
    x: Any,
    y: Any,
    class_weight: Sequence[float] | None = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Any, Any]:
    """Probabilities and cross entropy of weights over `x`.

    Args:
      x: the features, of shape (batch, features).
      y: one-hot labels, of shape (batch, classes).
      class_weight: what the logits are multiplied by; without it, the tensor
        that the collection of that name holds, if any.
      init_mean: draw weights and bias from a normal distribution around it; None
        for the scope's initializer.
      init_stddev: how wide that distribution is.
    """
    with tf.variable_scope("logistic_regression"):
        weights, bias = _weights(
            "logistic_regression", x, y, y.shape[-1], init_mean, init_stddev
        )
        found = class_weight or next(iter(tf.get_collection("class_weight")), None)
        return softmax_classifier(x, y, weights, bias, class_weight=found)


def linear_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """A `linear_regression` that starts with zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """A `logistic_regression` that starts with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _weights(
    name: str, x: Any, y: Any, outputs: Any, mean: float | None, stddev: float
) -> tuple[Any, Any]:
    tf.summary.histogram(f"{name}.x", x)
    tf.summary.histogram(f"{name}.y", y)
    start: dict[str, Callable[..., Any]] = {}
    if mean is not None:
        start["initializer"] = tf.random_normal_initializer(mean, stddev)
    weights = tf.get_variable("weights", [x.shape[1], outputs], dtype=x.dtype, **start)
    bias = tf.get_variable("bias", [outputs], dtype=x.dtype, **start)
    tf.summary.histogram(f"{name}.weights", weights)
    tf.summary.histogram(f"{name}.bias", bias)
    return weights, bias
