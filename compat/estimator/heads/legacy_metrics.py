"""Streaming metrics of the TF 1 heads: (value, update) pairs by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.compat.v1 import metrics as streaming

from .keys import MetricKeys as Keys
from .keys import PredictionKeys
from .tasks import BinaryTask, MultiClassTask, MultiLabelTask, RegressionTask, Task

__all__ = ["legacy_metrics"]

Pairs = dict[str, tuple[Any, Any]]


def legacy_metrics(
    task: Task,
    *,
    thresholds: Sequence[float],
    targets: Any,
    predictions: Mapping[str, Any],
    weights: Any,
    unreduced_loss: Any,
    regularization_loss: Any,
) -> Pairs:
    """Metric pairs of one head, under the plain keys (no head name)."""
    with tf.name_scope(None, "metrics", (targets, weights, unreduced_loss)):
        found: Pairs = {
            Keys.LOSS_MEAN: streaming.mean(
                unreduced_loss, weights=weights, name=Keys.LOSS_MEAN
            )
        }
        if isinstance(task, BinaryTask):
            _binary(found, targets, predictions, weights)
        elif isinstance(task, MultiClassTask):
            found[Keys.ACCURACY] = streaming.accuracy(
                labels=targets,
                predictions=predictions[PredictionKeys.CLASS_IDS],
                weights=weights,
                name=Keys.ACCURACY,
            )
        elif isinstance(task, MultiLabelTask):
            scores = predictions[PredictionKeys.PROBABILITIES]
            for curve, key in (("ROC", Keys.AUC), ("PR", Keys.AUC_PR)):
                found[key] = streaming.auc(
                    labels=targets,
                    predictions=scores,
                    weights=weights,
                    curve=curve,
                    name=key,
                )
        elif isinstance(task, RegressionTask):
            value = predictions[PredictionKeys.PREDICTIONS]
            found[Keys.PREDICTION_MEAN] = _mean(value, weights, Keys.PREDICTION_MEAN)
            found[Keys.LABEL_MEAN] = streaming.mean(targets, weights=weights)
        if regularization_loss is not None:
            found[Keys.LOSS_REGULARIZATION] = streaming.mean(
                regularization_loss, name=Keys.LOSS_REGULARIZATION
            )
        if thresholds:
            key = (
                PredictionKeys.LOGISTIC
                if isinstance(task, BinaryTask)
                else PredictionKeys.PROBABILITIES
            )
            for threshold in thresholds:
                _at_threshold(found, targets, predictions[key], weights, threshold)
        if isinstance(task, MultiLabelTask):
            _by_class(found, task, targets, predictions, weights)
        return found


def _binary(
    found: Pairs, targets: Any, predictions: Mapping[str, Any], weights: Any
) -> None:
    class_ids = predictions[PredictionKeys.CLASS_IDS]
    logistic = predictions[PredictionKeys.LOGISTIC]
    label_mean = _mean(targets, weights, Keys.LABEL_MEAN)
    for key, metric in (
        (Keys.ACCURACY, streaming.accuracy),
        (Keys.PRECISION, streaming.precision),
        (Keys.RECALL, streaming.recall),
    ):
        found[key] = metric(
            labels=targets, predictions=class_ids, weights=weights, name=key
        )
    found[Keys.PREDICTION_MEAN] = _mean(logistic, weights, Keys.PREDICTION_MEAN)
    found[Keys.LABEL_MEAN] = label_mean
    # What always answering with the more frequent class would score.
    with tf.name_scope(None, "accuracy_baseline", label_mean):
        value, update = label_mean
        found[Keys.ACCURACY_BASELINE] = (
            tf.maximum(value, 1.0 - value, name="value"),
            tf.maximum(update, 1.0 - update, name="update_op"),
        )
    found[Keys.AUC] = _auc(targets, logistic, weights, "ROC", Keys.AUC)
    found[Keys.AUC_PR] = _auc(targets, logistic, weights, "PR", Keys.AUC_PR)


def _at_threshold(
    found: Pairs, targets: Any, scores: Any, weights: Any, threshold: float
) -> None:
    key = Keys.ACCURACY_AT_THRESHOLD % threshold
    with tf.name_scope(None, f"accuracy_at_{threshold}") as scope:
        found[key] = streaming.accuracy(
            labels=targets,
            predictions=tf.cast(scores >= threshold, tf.float32),
            weights=weights,
            name=scope,
        )
    for key, name, metric in (
        (Keys.PRECISION_AT_THRESHOLD, "precision", streaming.precision_at_thresholds),
        (Keys.RECALL_AT_THRESHOLD, "recall", streaming.recall_at_thresholds),
    ):
        with tf.name_scope(None, f"{name}_at_{threshold}") as scope:
            value, update = metric(
                labels=targets,
                predictions=scores,
                thresholds=(threshold,),
                weights=weights,
                name=scope,
            )
            found[key % threshold] = (tf.squeeze(value), tf.squeeze(update))


def _by_class(
    found: Pairs,
    task: MultiLabelTask,
    targets: Any,
    predictions: Mapping[str, Any],
    weights: Any,
) -> None:
    scores = predictions[PredictionKeys.PROBABILITIES]
    for class_id in task.classes_for_metrics:
        of_class = scores[..., class_id : class_id + 1]
        label = targets[..., class_id : class_id + 1]
        if task.vocabulary is None:
            mean_key = Keys.PROBABILITY_MEAN_AT_CLASS % class_id
            auc_key = Keys.AUC_AT_CLASS % class_id
            pr_key = Keys.AUC_PR_AT_CLASS % class_id
        else:
            name = task.vocabulary[class_id]
            mean_key = Keys.PROBABILITY_MEAN_AT_NAME % name
            auc_key = Keys.AUC_AT_NAME % name
            pr_key = Keys.AUC_PR_AT_NAME % name
        found[mean_key] = _mean(of_class, weights, mean_key)
        found[auc_key] = _auc(label, of_class, weights, "ROC", auc_key)
        found[pr_key] = _auc(label, of_class, weights, "PR", pr_key)


def _broadcast(weights: Any, values: Any) -> Any:
    """`weights` with one entry per value: means count entries, not examples."""
    return tf.cast(weights, tf.float32) * tf.ones_like(values, dtype=tf.float32)


def _mean(values: Any, weights: Any, name: str) -> tuple[Any, Any]:
    with tf.name_scope(None, name.replace("%", "")) as scope:
        values = tf.cast(values, tf.float32)
        pair: tuple[Any, Any] = streaming.mean(
            values, weights=_broadcast(weights, values), name=scope
        )
        return pair


def _auc(
    targets: Any, scores: Any, weights: Any, curve: str, name: str
) -> tuple[Any, Any]:
    with tf.name_scope(None, name) as scope:
        scores = tf.cast(scores, tf.float32)
        pair: tuple[Any, Any] = streaming.auc(
            labels=targets,
            predictions=scores,
            weights=_broadcast(weights, scores),
            curve=curve,
            name=scope,
        )
        return pair
