"""The public TF 2 heads of single tasks: ``tf.estimator.*Head``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from . import checks
from .base import MEAN_OVER_BATCH, TaskHead, check_head_loss_fn
from .keys import MetricKeys as Keys
from .keys import PredictionKeys
from .tasks import (
    BinaryTask,
    MultiClassTask,
    MultiLabelTask,
    RegressionTask,
    logistic_loss,
    poisson_loss,
)

__all__ = [
    "BinaryClassHead",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
    "binary_or_multi_class_head",
]

Update = Callable[..., None]


class _AccuracyBaseline(tf_keras.metrics.Mean):
    """Accuracy of always answering with the more frequent class."""

    def result(self) -> Any:
        """The larger of the shares of ones and zeros."""
        mean = tf.div_no_nan(self.total, self.count)
        return tf.maximum(mean, 1.0 - mean)


class BinaryClassHead(TaskHead):
    """Two classes, one logit."""

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        checks.check_vocabulary(label_vocabulary, error=ValueError)
        self._thresholds = checks.check_thresholds(thresholds)
        check_head_loss_fn(loss_fn)
        super().__init__(
            BinaryTask(vocabulary=label_vocabulary, loss_fn=loss_fn),
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            name=name,
        )

    def _task_metrics(self) -> dict[str, Any]:
        metrics = tf_keras.metrics
        return {
            Keys.ACCURACY: metrics.Accuracy(name=Keys.ACCURACY),
            Keys.PRECISION: metrics.Precision(name=Keys.PRECISION),
            Keys.RECALL: metrics.Recall(name=Keys.RECALL),
            Keys.PREDICTION_MEAN: metrics.Mean(name=Keys.PREDICTION_MEAN),
            Keys.LABEL_MEAN: metrics.Mean(name=Keys.LABEL_MEAN),
            Keys.ACCURACY_BASELINE: _AccuracyBaseline(name=Keys.ACCURACY_BASELINE),
            Keys.AUC: metrics.AUC(name=Keys.AUC),
            Keys.AUC_PR: metrics.AUC(curve="PR", name=Keys.AUC_PR),
            **_threshold_metrics(self._thresholds),
        }

    def _update_task_metrics(
        self, update: Update, targets: Any, predictions: dict[str, Any], weights: Any
    ) -> None:
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        logistic = predictions[PredictionKeys.LOGISTIC]
        for key in (Keys.ACCURACY, Keys.PRECISION, Keys.RECALL):
            update(key, targets, class_ids, sample_weight=weights)
        each = _broadcast(weights, logistic)
        update(Keys.PREDICTION_MEAN, logistic, sample_weight=each)
        update(Keys.LABEL_MEAN, targets, sample_weight=each)
        update(Keys.ACCURACY_BASELINE, targets, sample_weight=each)
        update(Keys.AUC, targets, logistic, sample_weight=each)
        update(Keys.AUC_PR, targets, logistic, sample_weight=each)
        _update_thresholds(update, self._thresholds, targets, logistic, weights)


class MultiClassHead(TaskHead):
    """Three or more classes, one of them true."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        checks.check_vocabulary(label_vocabulary, n_classes=n_classes, error=ValueError)
        check_head_loss_fn(loss_fn)
        super().__init__(
            MultiClassTask(n_classes, vocabulary=label_vocabulary, loss_fn=loss_fn),
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            name=name,
        )

    def _task_metrics(self) -> dict[str, Any]:
        return {Keys.ACCURACY: tf_keras.metrics.Accuracy(name=Keys.ACCURACY)}

    def _update_task_metrics(
        self, update: Update, targets: Any, predictions: dict[str, Any], weights: Any
    ) -> None:
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        update(Keys.ACCURACY, targets, class_ids, sample_weight=weights)


class MultiLabelHead(TaskHead):
    """Any number of true classes per example."""

    _task: MultiLabelTask

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(
                "n_classes must be > 1 for multi-label classification. "
                f"Given: {n_classes}"
            )
        self._thresholds = checks.check_thresholds(thresholds)
        checks.check_vocabulary(
            label_vocabulary,
            n_classes=n_classes,
            error=ValueError,
            rule="must be a list or tuple",
        )
        check_head_loss_fn(loss_fn)
        super().__init__(
            MultiLabelTask(
                n_classes,
                vocabulary=label_vocabulary,
                loss_fn=loss_fn,
                classes_for_metrics=classes_for_class_based_metrics,
            ),
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            name=name,
        )

    def _class_keys(self, class_id: int) -> tuple[str, str, str]:
        if self._task.vocabulary is None:
            return (
                Keys.PROBABILITY_MEAN_AT_CLASS % class_id,
                Keys.AUC_AT_CLASS % class_id,
                Keys.AUC_PR_AT_CLASS % class_id,
            )
        name = self._task.vocabulary[class_id]
        return (
            Keys.PROBABILITY_MEAN_AT_NAME % name,
            Keys.AUC_AT_NAME % name,
            Keys.AUC_PR_AT_NAME % name,
        )

    def _task_metrics(self) -> dict[str, Any]:
        metrics = tf_keras.metrics
        found = {
            Keys.AUC: metrics.AUC(name=Keys.AUC),
            Keys.AUC_PR: metrics.AUC(curve="PR", name=Keys.AUC_PR),
            **_threshold_metrics(self._thresholds),
        }
        for class_id in self._task.classes_for_metrics:
            mean_key, auc_key, pr_key = self._class_keys(class_id)
            found[mean_key] = metrics.Mean(name=mean_key)
            found[auc_key] = metrics.AUC(name=auc_key)
            found[pr_key] = metrics.AUC(curve="PR", name=pr_key)
        return found

    def _update_task_metrics(
        self, update: Update, targets: Any, predictions: dict[str, Any], weights: Any
    ) -> None:
        scores = predictions[PredictionKeys.PROBABILITIES]
        update(Keys.AUC, targets, scores, sample_weight=weights)
        update(Keys.AUC_PR, targets, scores, sample_weight=weights)
        _update_thresholds(update, self._thresholds, targets, scores, weights)
        for class_id in self._task.classes_for_metrics:
            of_class = scores[..., class_id : class_id + 1]
            label = targets[..., class_id : class_id + 1]
            mean_key, auc_key, pr_key = self._class_keys(class_id)
            update(mean_key, of_class, sample_weight=_broadcast(weights, of_class))
            update(auc_key, label, of_class, sample_weight=weights)
            update(pr_key, label, of_class, sample_weight=weights)


class RegressionHead(TaskHead):
    """Real values."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        check_head_loss_fn(loss_fn)
        super().__init__(
            RegressionTask(
                label_dimension, loss_fn=loss_fn, inverse_link_fn=inverse_link_fn
            ),
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            name=name,
        )

    def _task_metrics(self) -> dict[str, Any]:
        return {
            key: tf_keras.metrics.Mean(name=key)
            for key in (Keys.PREDICTION_MEAN, Keys.LABEL_MEAN)
        }

    def _update_task_metrics(
        self, update: Update, targets: Any, predictions: dict[str, Any], weights: Any
    ) -> None:
        value = predictions[PredictionKeys.PREDICTIONS]
        each = _broadcast(weights, value)
        update(Keys.LABEL_MEAN, targets, sample_weight=weights)
        update(Keys.PREDICTION_MEAN, value, sample_weight=each)


class PoissonRegressionHead(RegressionHead):
    """Counts: the logits are log rates."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            loss_fn=poisson_loss(compute_full_loss),
            inverse_link_fn=tf.exp,
            name=name,
        )


class LogisticRegressionHead(RegressionHead):
    """Labels between 0 and 1, cross entropy."""

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        name: str | None = None,
    ) -> None:
        super().__init__(
            label_dimension=1,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            loss_fn=logistic_loss,
            inverse_link_fn=tf.sigmoid,
            name=name,
        )


def binary_or_multi_class_head(
    n_classes: int,
    *,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: Any,
) -> TaskHead:
    """The head of a TF 2 canned classifier."""
    if n_classes == 2:
        return BinaryClassHead(
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
    return MultiClassHead(
        n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
    )


def _broadcast(weights: Any, values: Any) -> Any:
    return tf.cast(weights, tf.float32) * tf.ones_like(values, dtype=tf.float32)


def _threshold_metrics(thresholds: Sequence[float]) -> dict[str, Any]:
    metrics = tf_keras.metrics
    found: dict[str, Any] = {}
    for at in thresholds:
        key = Keys.ACCURACY_AT_THRESHOLD % at
        found[key] = metrics.BinaryAccuracy(name=key, threshold=at)
        key = Keys.PRECISION_AT_THRESHOLD % at
        found[key] = metrics.Precision(name=key, thresholds=at)
        key = Keys.RECALL_AT_THRESHOLD % at
        found[key] = metrics.Recall(name=key, thresholds=at)
    return found


def _update_thresholds(
    update: Update, thresholds: Sequence[float], targets: Any, scores: Any, weights: Any
) -> None:
    for at in thresholds:
        for key in (
            Keys.ACCURACY_AT_THRESHOLD,
            Keys.PRECISION_AT_THRESHOLD,
            Keys.RECALL_AT_THRESHOLD,
        ):
            update(key % at, targets, scores, sample_weight=weights)
