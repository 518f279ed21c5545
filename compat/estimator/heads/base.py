"""``tf.estimator.Head`` and what all TF 2 heads share."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ..mode_keys import ModeKeys
from ..spec import EstimatorSpec
from . import checks
from .keys import MetricKeys, scoped
from .tasks import Task

__all__ = ["Head", "TaskHead", "checked_reduction", "training_op"]

ReductionV2 = tf_keras.losses.Reduction
MEAN_OVER_BATCH: str = ReductionV2.SUM_OVER_BATCH_SIZE


def checked_reduction(loss_reduction: Any) -> Any:
    """A TF 2 loss reduction that gives a scalar."""
    if loss_reduction not in ReductionV2.all() or loss_reduction == ReductionV2.NONE:
        raise ValueError(
            f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for "
            "valid options."
        )
    return loss_reduction


class Head(abc.ABC):
    """What stands between a model's logits and the Estimator.

    A head knows the loss, the metrics, the predictions and the export
    signatures of one kind of label.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """Prefix of summaries and metrics."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """Size of the last dimension of the logits."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> Any:
        """How per-example losses become one number."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The training loss, a scalar."""

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Any = None) -> Any:
        """Predictions by key."""

    @abc.abstractmethod
    def metrics(self, regularization_losses: Any = None) -> Any:
        """Fresh metric objects by key."""

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: Any,
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """Adds one batch to the metric objects and returns them."""

    def _summary_key(self, key: str) -> str:
        return scoped(key, self.name)

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The ``EstimatorSpec`` of a model function in `mode`."""
        try:
            spec = self._create_tpu_estimator_spec(
                features=features,
                mode=mode,
                logits=logits,
                labels=labels,
                optimizer=optimizer,
                trainable_variables=trainable_variables,
                train_op_fn=train_op_fn,
                update_ops=update_ops,
                regularization_losses=regularization_losses,
            )
        except NotImplementedError:
            raise NotImplementedError(
                "Subclasses of Head must implement `create_estimator_spec()` or "
                "_create_tpu_estimator_spec()."
            ) from None
        made: EstimatorSpec = spec.as_estimator_spec()
        return made

    def _create_tpu_estimator_spec(self, *args: Any, **kwargs: Any) -> Any:
        """What a head for TPUs writes instead."""
        del args, kwargs
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")


def training_op(
    loss: Any,
    *,
    optimizer: Any,
    trainable_variables: Any,
    train_op_fn: Callable[[Any], Any] | None,
    update_ops: Any,
    loss_reduction: Any,
) -> Any:
    """The op of one training step, with a Keras optimizer or a function."""
    if update_ops is not None and not isinstance(update_ops, (list, tuple)):
        raise ValueError(
            f"update_ops should be a list or a tuple. Given type: {type(update_ops)}."
        )
    with tf.name_scope(""), tf.name_scope("training"):
        if optimizer is not None:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set.")
            _check_optimizer(optimizer)
            if trainable_variables is None:
                raise ValueError("trainable_variables cannot be None. Given None")
            if not isinstance(trainable_variables, (list, tuple)):
                raise ValueError(
                    "trainable_variables should be a list or a tuple. Given type: "
                    f"{type(trainable_variables)}."
                )
            if loss_reduction == MEAN_OVER_BATCH:
                loss = mean_over_replicas(loss)
            train_op = optimizer.get_updates(loss, trainable_variables)[0]
        elif train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        return train_op if update_ops is None else tf.group(train_op, *update_ops)


def mean_over_replicas(loss: Any) -> Any:
    """`loss` scaled so that the sum over the replicas is their mean."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    return loss * (1.0 / replicas) if replicas > 1 else loss


def _check_optimizer(optimizer: Any) -> None:
    # Newer optimizers have no get_updates; a user's class may have written one.
    if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer) or (
        isinstance(optimizer, tf_keras.optimizers.Optimizer)
        and hasattr(optimizer, "get_updates")
    ):
        return
    raise ValueError(
        "The given optimizer is not a tf.keras.optimizers.Optimizer instance of the "
        f"kind that TF 2 heads ever trained with. Given: {optimizer} of type "
        f"{type(optimizer)}; pass the one of the same name from "
        "tf_keras.optimizers.legacy."
    )


class TaskHead(Head):
    """A head of one task; public head classes only add their arguments."""

    def __init__(
        self,
        task: Task,
        *,
        weight_column: Any,
        loss_reduction: Any,
        name: str | None,
    ) -> None:
        self._task = task
        self._weight_column = weight_column
        self._loss_reduction = checked_reduction(loss_reduction)
        self._name = name

    @property
    def name(self) -> str | None:
        """Prefix of summaries and metrics."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """Size of the last dimension of the logits."""
        return self._task.logits_dimension

    @property
    def loss_reduction(self) -> Any:
        """How per-example losses become one number."""
        return self._loss_reduction

    def _loss_parts(self, logits: Any, labels: Any, features: Any) -> tuple[Any, ...]:
        targets = self._task.targets(labels, logits)
        unreduced = self._task.unreduced_loss(targets, logits, features)
        weights = checks.example_weights(
            features,
            self._weight_column,
            logits,
            per_logit=self._task.weight_per_logit,
        )
        return targets, unreduced, weights

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The training loss: weighted, reduced, with regularisation added."""
        del mode
        with tf.name_scope(None, "losses", (logits, labels)):
            logits = checks.checked_logits(logits, self.logits_dimension)
            _, unreduced, weights = self._loss_parts(logits, labels, features)
            loss = tf_keras.__internal__.losses.compute_weighted_loss(
                unreduced, sample_weight=weights, reduction=self._loss_reduction
            )
            if regularization_losses is not None:
                loss = loss + tf.add_n(regularization_losses)
            return loss

    def predictions(
        self, logits: Any, keys: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Predictions by key; `keys` limits them."""
        logits = checks.checked_logits(logits, self.logits_dimension)
        return self._task.predictions(logits, keys)

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """Fresh metric objects by key."""
        with tf.name_scope(None, "metrics"):
            found = {MetricKeys.LOSS_MEAN: _mean(MetricKeys.LOSS_MEAN)}
            found.update(self._task_metrics())
            if regularization_losses is not None:
                key = MetricKeys.LOSS_REGULARIZATION
                found[key] = _mean(key)
            return {self._summary_key(key): metric for key, metric in found.items()}

    def _task_metrics(self) -> dict[str, Any]:
        raise NotImplementedError

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds one batch to the metric objects and returns them."""
        del mode
        logits = checks.checked_logits(logits, self.logits_dimension)
        targets, unreduced, weights = self._loss_parts(logits, labels, features)
        predictions = self._task.predictions(logits)

        def update(key: str, *args: Any, sample_weight: Any) -> None:
            metric = eval_metrics[self._summary_key(key)]
            metric.update_state(*args, sample_weight=sample_weight)

        update(MetricKeys.LOSS_MEAN, unreduced, sample_weight=weights)
        self._update_task_metrics(update, targets, predictions, weights)
        if regularization_losses is not None:
            update(
                MetricKeys.LOSS_REGULARIZATION,
                tf.add_n(regularization_losses),
                sample_weight=None,
            )
        return eval_metrics

    def _update_task_metrics(
        self,
        update: Callable[..., None],
        targets: Any,
        predictions: dict[str, Any],
        weights: Any,
    ) -> None:
        raise NotImplementedError

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The ``EstimatorSpec`` of a model function in `mode`."""
        with tf.name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    export_outputs=self._task.export_outputs(predictions),
                )
            loss = self.loss(
                labels,
                logits,
                features=features,
                mode=mode,
                regularization_losses=regularization_losses,
            )
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses=regularization_losses),
                    features,
                    logits,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    loss=loss,
                    eval_metric_ops=metrics,
                )
            train_op = training_op(
                loss,
                optimizer=optimizer,
                trainable_variables=trainable_variables,
                train_op_fn=train_op_fn,
                update_ops=update_ops,
                loss_reduction=self._loss_reduction,
            )
        summarise(loss, regularization_losses, self._summary_key)
        return EstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op
        )


def summarise(
    loss: Any, regularization_losses: Any, key_of: Callable[[str], str]
) -> None:
    """The scalar summaries of a training step."""
    with tf.name_scope(""):
        tf.summary.scalar(key_of(MetricKeys.LOSS), loss)
        if regularization_losses is not None:
            tf.summary.scalar(
                key_of(MetricKeys.LOSS_REGULARIZATION), tf.add_n(regularization_losses)
            )


def check_head_loss_fn(loss_fn: Callable[..., Any] | None) -> None:
    """A user's loss may also name ``loss_reduction``; it was never passed."""
    checks.check_loss_fn(loss_fn, optional=("features", "loss_reduction"))


def _mean(name: str) -> Any:
    return tf_keras.metrics.Mean(name=name)
