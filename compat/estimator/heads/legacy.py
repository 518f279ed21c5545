"""Heads of TF 1: ``tf.contrib.estimator.*_head`` and those of canned models.

Both use `tf.losses` reductions. Canned models of TF 1 report the SUM over the
batch, heads from ``tf.contrib.estimator`` the mean: the default differs, the
class does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from ..mode_keys import ModeKeys
from ..spec import EstimatorSpec
from . import checks
from .keys import MetricKeys, scoped
from .legacy_metrics import legacy_metrics
from .tasks import (
    BinaryTask,
    MultiClassTask,
    MultiLabelTask,
    RegressionTask,
    Task,
    logistic_loss,
    poisson_loss,
)

__all__ = [
    "LegacyHead",
    "LossSpec",
    "binary_classification_head",
    "binary_or_multi_class_head",
    "logistic_regression_head",
    "multi_class_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
    "training_op",
]

Reduction = tf.losses.Reduction
MEAN_OVER_BATCH: str = Reduction.SUM_OVER_BATCH_SIZE


class LossSpec(NamedTuple):
    """What ``create_loss`` returns."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


def training_op(
    loss: Any,
    *,
    optimizer: Any,
    train_op_fn: Callable[[Any], Any] | None,
) -> Any:
    """The op of one training step, from an optimizer or from a function."""
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        return optimizer.minimize(loss, global_step=tf.train.get_global_step())
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)


class LegacyHead:
    """A TF 1 head: loss, metrics, predictions and training op of one task."""

    def __init__(
        self,
        task: Task,
        *,
        weight_column: Any = None,
        thresholds: Sequence[float] = (),
        loss_reduction: str = Reduction.SUM,
        name: str | None = None,
    ) -> None:
        if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        self._task = task
        self._weight_column = weight_column
        self._thresholds = tuple(thresholds)
        self._loss_reduction = loss_reduction
        self._name = name

    @property
    def name(self) -> str | None:
        """Prefix of metrics and label key in a multi-head."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """Size of the last dimension of the logits."""
        return self._task.logits_dimension

    def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> Any:
        """Reduced and unreduced loss, weights, and labels as targets."""
        del mode
        logits = tf.convert_to_tensor(logits)
        targets = self._task.targets(labels, logits)
        unreduced = self._task.unreduced_loss(targets, logits, features)
        weights = checks.example_weights(
            features,
            self._weight_column,
            logits,
            per_logit=self._task.weight_per_logit,
        )
        loss = tf.losses.compute_weighted_loss(
            unreduced, weights=weights, reduction=self._loss_reduction
        )
        return LossSpec(loss, unreduced, weights, targets)

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The ``EstimatorSpec`` of a model function in `mode`."""
        with tf.name_scope(self._name, "head"):
            logits = checks.checked_logits(logits, self.logits_dimension)
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    export_outputs=self._task.export_outputs(predictions),
                )
            spec = self.create_loss(features, mode, logits, labels)
            loss, regularization = spec.training_loss, None
            if regularization_losses:
                regularization = tf.add_n(regularization_losses)
                loss = tf.add_n([loss, regularization])
            if mode == ModeKeys.EVAL:
                return EstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    loss=loss,
                    eval_metric_ops=self._metrics(spec, predictions, regularization),
                )
            train_op = training_op(loss, optimizer=optimizer, train_op_fn=train_op_fn)
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            if updates:
                train_op = tf.group(train_op, *updates)
            mean = None
            if self._loss_reduction == Reduction.SUM:
                # The mean is what dashboards compare between batch sizes.
                total = tf.reduce_sum(spec.weights * tf.ones_like(spec.unreduced_loss))
                mean = spec.training_loss / total
        with tf.name_scope(""):
            for key, value in (
                (MetricKeys.LOSS, loss),
                (MetricKeys.LOSS_MEAN, mean),
                (MetricKeys.LOSS_REGULARIZATION, regularization),
            ):
                if value is not None:
                    tf.summary.scalar(scoped(key, self._name), value)
        return EstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op
        )

    def _predictions(self, logits: Any) -> dict[str, Any]:
        keys = self._task.prediction_keys
        if isinstance(self._task, MultiLabelTask):
            # The list of classes came with TF 2.
            keys = tuple(key for key in keys if key != "classes")
        return self._task.predictions(logits, keys)

    def _metrics(
        self, spec: LossSpec, predictions: Mapping[str, Any], regularization: Any
    ) -> dict[str, Any]:
        found = legacy_metrics(
            self._task,
            thresholds=self._thresholds,
            targets=spec.processed_labels,
            predictions=predictions,
            weights=spec.weights,
            unreduced_loss=spec.unreduced_loss,
            regularization_loss=regularization,
        )
        return {scoped(key, self._name): pair for key, pair in found.items()}


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = MEAN_OVER_BATCH,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> LegacyHead:
    """One true class of three or more: softmax cross entropy."""
    checks.check_vocabulary(label_vocabulary, error=ValueError)
    checks.check_loss_fn(loss_fn)
    return LegacyHead(
        MultiClassTask(n_classes, vocabulary=label_vocabulary, loss_fn=loss_fn),
        weight_column=weight_column,
        loss_reduction=loss_reduction,
        name=name,
    )


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = MEAN_OVER_BATCH,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> LegacyHead:
    """Two classes, one logit: sigmoid cross entropy."""
    checks.check_vocabulary(label_vocabulary, error=TypeError)
    checks.check_loss_fn(loss_fn)
    return LegacyHead(
        BinaryTask(vocabulary=label_vocabulary, loss_fn=loss_fn),
        weight_column=weight_column,
        thresholds=checks.check_thresholds(thresholds),
        loss_reduction=loss_reduction,
        name=name,
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = MEAN_OVER_BATCH,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> LegacyHead:
    """Real values: squared error, or the loss given."""
    checks.check_loss_fn(loss_fn)
    return LegacyHead(
        RegressionTask(
            label_dimension, loss_fn=loss_fn, inverse_link_fn=inverse_link_fn
        ),
        weight_column=weight_column,
        loss_reduction=loss_reduction,
        name=name,
    )


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = MEAN_OVER_BATCH,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> LegacyHead:
    """Counts: the logits are log rates."""
    return regression_head(
        weight_column=weight_column,
        label_dimension=label_dimension,
        loss_reduction=loss_reduction,
        loss_fn=poisson_loss(compute_full_loss),
        inverse_link_fn=tf.exp,
        name=name,
    )


def logistic_regression_head(
    weight_column: Any = None,
    loss_reduction: str = MEAN_OVER_BATCH,
    name: str | None = None,
) -> LegacyHead:
    """Labels between 0 and 1, cross entropy, probabilities as predictions."""
    return regression_head(
        weight_column=weight_column,
        loss_reduction=loss_reduction,
        loss_fn=logistic_loss,
        inverse_link_fn=tf.sigmoid,
        name=name,
    )


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = MEAN_OVER_BATCH,
    loss_fn: Callable[..., Any] | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> LegacyHead:
    """Any number of true classes per example: mean sigmoid cross entropy."""
    checks.check_vocabulary(
        label_vocabulary,
        n_classes=n_classes,
        error=ValueError,
        rule="must be a list or tuple",
    )
    checks.check_loss_fn(loss_fn)
    return LegacyHead(
        MultiLabelTask(
            n_classes,
            vocabulary=label_vocabulary,
            loss_fn=loss_fn,
            classes_for_metrics=classes_for_class_based_metrics,
        ),
        weight_column=weight_column,
        thresholds=checks.check_thresholds(thresholds),
        loss_reduction=loss_reduction,
        name=name,
    )


def binary_or_multi_class_head(
    n_classes: int,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> LegacyHead:
    """The head of a TF 1 canned classifier."""
    if n_classes == 2:
        return binary_classification_head(
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
    return multi_class_head(
        n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
    )
