"""Metrics of ``tf.metrics`` under their older names and argument orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ._state import Pair

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "confusion_matrix",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "sparse_recall_at_top_k",
    "streaming_accuracy",
    "streaming_auc",
    "streaming_false_negatives",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positives",
    "streaming_false_positives_at_thresholds",
    "streaming_mean",
    "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance",
    "streaming_mean_iou",
    "streaming_mean_relative_error",
    "streaming_mean_squared_error",
    "streaming_mean_tensor",
    "streaming_percentage_less",
    "streaming_precision",
    "streaming_precision_at_thresholds",
    "streaming_recall",
    "streaming_recall_at_k",
    "streaming_recall_at_thresholds",
    "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k",
    "streaming_sparse_precision_at_k",
    "streaming_sparse_precision_at_top_k",
    "streaming_sparse_recall_at_k",
    "streaming_specificity_at_sensitivity",
    "streaming_true_negatives",
    "streaming_true_negatives_at_thresholds",
    "streaming_true_positives",
    "streaming_true_positives_at_thresholds",
]

_m = tf.metrics


def _swapped(name: str, now: Callable[..., Any], *between: str) -> Callable[..., Any]:
    """The metric ``now(labels, predictions, *between, ...)`` with its old order."""

    def metric(predictions: Any, labels: Any, *args: Any, **kwargs: Any) -> Any:
        return now(labels, predictions, *args, **kwargs)

    metric.__name__ = metric.__qualname__ = name
    extra = "".join(f", {item}" for item in between)
    metric.__doc__ = f"``{name}(predictions, labels{extra}, weights=None, ...)``."
    metric.__module__ = __name__
    return metric


streaming_accuracy = _swapped("streaming_accuracy", _m.accuracy)
streaming_auc = _swapped("streaming_auc", _m.auc)
streaming_false_negatives = _swapped("streaming_false_negatives", _m.false_negatives)
streaming_false_positives = _swapped("streaming_false_positives", _m.false_positives)
streaming_true_negatives = _swapped("streaming_true_negatives", _m.true_negatives)
streaming_true_positives = _swapped("streaming_true_positives", _m.true_positives)
streaming_false_negatives_at_thresholds = _swapped(
    "streaming_false_negatives_at_thresholds",
    _m.false_negatives_at_thresholds,
    "thresholds",
)
streaming_false_positives_at_thresholds = _swapped(
    "streaming_false_positives_at_thresholds",
    _m.false_positives_at_thresholds,
    "thresholds",
)
streaming_true_negatives_at_thresholds = _swapped(
    "streaming_true_negatives_at_thresholds",
    _m.true_negatives_at_thresholds,
    "thresholds",
)
streaming_true_positives_at_thresholds = _swapped(
    "streaming_true_positives_at_thresholds",
    _m.true_positives_at_thresholds,
    "thresholds",
)
streaming_mean_absolute_error = _swapped(
    "streaming_mean_absolute_error", _m.mean_absolute_error
)
streaming_mean_cosine_distance = _swapped(
    "streaming_mean_cosine_distance", _m.mean_cosine_distance, "dim"
)
streaming_mean_iou = _swapped("streaming_mean_iou", _m.mean_iou, "num_classes")
streaming_mean_relative_error = _swapped(
    "streaming_mean_relative_error", _m.mean_relative_error, "normalizer"
)
streaming_mean_squared_error = _swapped(
    "streaming_mean_squared_error", _m.mean_squared_error
)
streaming_precision = _swapped("streaming_precision", _m.precision)
streaming_precision_at_thresholds = _swapped(
    "streaming_precision_at_thresholds", _m.precision_at_thresholds, "thresholds"
)
streaming_recall = _swapped("streaming_recall", _m.recall)
streaming_recall_at_thresholds = _swapped(
    "streaming_recall_at_thresholds", _m.recall_at_thresholds, "thresholds"
)
streaming_root_mean_squared_error = _swapped(
    "streaming_root_mean_squared_error", _m.root_mean_squared_error
)
streaming_sensitivity_at_specificity = _swapped(
    "streaming_sensitivity_at_specificity",
    _m.sensitivity_at_specificity,
    "specificity",
)
streaming_specificity_at_sensitivity = _swapped(
    "streaming_specificity_at_sensitivity",
    _m.specificity_at_sensitivity,
    "sensitivity",
)
streaming_sparse_average_precision_at_k = _swapped(
    "streaming_sparse_average_precision_at_k", _m.average_precision_at_k, "k"
)
streaming_sparse_precision_at_k = _swapped(
    "streaming_sparse_precision_at_k", _m.precision_at_k, "k"
)
streaming_sparse_recall_at_k = _swapped(
    "streaming_sparse_recall_at_k", _m.recall_at_k, "k"
)
streaming_mean = _m.mean
streaming_mean_tensor = _m.mean_tensor
streaming_percentage_less = _m.percentage_below
sparse_recall_at_top_k = _m.recall_at_top_k
set_difference = tf.sets.set_difference
set_intersection = tf.sets.set_intersection
set_size = tf.sets.set_size
set_union = tf.sets.set_union


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any, labels: Any, *args: Any, **kwargs: Any
) -> Any:
    """Precision of given top-k class numbers."""
    return _m.precision_at_top_k(labels, top_k_predictions, *args, **kwargs)


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """How often the label is among the k best predictions."""
    hits = tf.cast(tf.nn.in_top_k(predictions, labels, k), tf.float32)
    return _m.mean(
        hits,
        weights,
        metrics_collections,
        updates_collections,
        name or f"recall_at_{k}",
    )


def accuracy(
    predictions: Any, labels: Any, weights: Any = None, name: str | None = None
) -> Any:
    """The share of equal elements in this batch; not a streaming metric."""
    if labels.dtype != predictions.dtype:
        raise ValueError(
            "dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype}) and labels ({labels.dtype})"
        )
    with tf.name_scope(name, "accuracy", [predictions, labels]):
        hits = tf.cast(tf.equal(predictions, labels), tf.float32)
        if weights is None:
            return tf.reduce_mean(hits)
        hits = tf.multiply(hits, weights)
        total = tf.reduce_sum(tf.multiply(weights, tf.ones_like(hits)))
        return tf.div_no_nan(tf.reduce_sum(hits), total)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = tf.int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """Counts of label against prediction."""
    return tf.confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=dtype, name=name
    )


def aggregate_metrics(*value_update_tuples: Pair) -> tuple[list[Any], list[Any]]:
    """The values of several metrics, and their updates."""
    if not value_update_tuples:
        raise ValueError(
            "Expected at least one value_tensor/update_op pair to be provided"
        )
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: dict[str, Pair],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of several metrics by name, and their updates by name."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    updates = {name: pair[1] for name, pair in names_to_tuples.items()}
    return values, updates
