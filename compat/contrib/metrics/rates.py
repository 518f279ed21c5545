"""Rates and the best figure over thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ._state import Pair, filed

__all__ = [
    "f1_score",
    "precision_at_recall",
    "recall_at_precision",
    "streaming_false_negative_rate",
    "streaming_false_positive_rate",
]

_m = tf.metrics


def _rate(
    name: str, wrong: Callable[..., Any], right: Callable[..., Any], doc: str
) -> Callable[..., Any]:
    def metric(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = name.removeprefix("streaming_"),
    ) -> Pair:
        with tf.variable_scope(name, None, (predictions, labels, weights)):
            bad = wrong(labels, predictions, weights)
            good = right(labels, predictions, weights)
            value, update = (
                tf.div_no_nan(bad[i], bad[i] + good[i], name=label)
                for i, label in ((0, "value"), (1, "update_op"))
            )
            return filed(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = doc
    metric.__module__ = __name__
    return metric


streaming_false_positive_rate = _rate(
    "streaming_false_positive_rate",
    _m.false_positives,
    _m.true_negatives,
    "The share of negatives that were predicted positive.",
)
streaming_false_negative_rate = _rate(
    "streaming_false_negative_rate",
    _m.false_negatives,
    _m.true_positives,
    "The share of positives that were predicted negative.",
)


def _best_over_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any,
    num_thresholds: int,
    choose: Callable[..., Any],
) -> Pair:
    """A figure chosen from the confusion counts at evenly spaced thresholds."""
    epsilon = 1e-7
    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    thresholds = [-epsilon, *inner, 1.0 + epsilon]
    counts = [
        fn(labels, predictions, thresholds, weights)
        for fn in (
            _m.true_positives_at_thresholds,
            _m.false_positives_at_thresholds,
            _m.false_negatives_at_thresholds,
        )
    ]
    value = choose(*[pair[0] for pair in counts], thresholds)
    update = choose(*[pair[1] for pair in counts], thresholds)
    return value, update


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The greatest F1 over the thresholds."""

    def choose(tp: Any, fp: Any, fn: Any, _thresholds: Any) -> Any:
        precision = tp / (1e-8 + tp + fp)
        recall = tp / (1e-8 + tp + fn)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + 1e-8))

    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        pair = _best_over_thresholds(
            labels, predictions, weights, num_thresholds, choose
        )
        return filed(*pair, metrics_collections, updates_collections)


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The precision at the greatest threshold that keeps the wanted recall."""
    if not 0 <= target_recall <= 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def choose(tp: Any, fp: Any, fn: Any, _thresholds: Any) -> Any:
        recall = tf.div(tp, tp + fn + 1e-7)
        # Recall falls as the threshold rises: this is the last that suffices.
        place = tf.reduce_sum(tf.cast(recall >= target_recall, tf.int32)) - 1
        return tf.div(tp[place], tp[place] + fp[place] + 1e-7)

    with tf.variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        pair = _best_over_thresholds(
            labels, predictions, weights, num_thresholds, choose
        )
        return filed(*pair, metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Pair:
    """The recall at the threshold whose precision comes closest from above."""
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def choose(tp: Any, fp: Any, fn: Any, _thresholds: Any) -> Any:
        found = tf.div(tp, tp + fp + 1e-7)
        gap = found - precision
        above = tf.where(gap >= 0, gap, tf.fill(tf.shape(gap), float("inf")))
        any_above = tf.reduce_any(gap >= 0)
        place = tf.where(
            any_above,
            tf.argmin(above, 0, output_type=tf.int32),
            tf.argmin(tf.abs(gap), 0, output_type=tf.int32),
        )
        recall = tf.div(tp[place], tp[place] + fn[place] + 1e-7)
        if strict_mode:
            recall = tf.where(any_above, recall, tf.zeros_like(recall))
        return recall

    with tf.variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        pair = _best_over_thresholds(
            labels, predictions, weights, num_thresholds, choose
        )
        return filed(*pair, metrics_collections, updates_collections)
