"""Metrics that some evaluations have besides those of the task."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras

from . import core, predictions  # noqa: F401 what they compare


@dataclasses.dataclass(frozen=True)
class MetricSpec:
    """A metric, what it is given of labels and predictions, and the keys of these."""

    metric: tf_keras.metrics.Metric
    values: Callable[..., object]
    prediction_key: str | None = None
    label_key: str | None = None
    weight_key: str | None = None


def with_metrics(trainer: core.Trainer, metrics: dict[str, MetricSpec]) -> core.Trainer:
    """Returns a trainer of the same model that evaluates by more metrics."""
    own: Any = trainer.task
    trainer, trainer.task = copy.copy(trainer), copy.copy(own)

    def update_metrics(features: Any, labels: Any, outputs: Any) -> None:
        own.update_metrics(features, labels, outputs)
        predicted = own.predictions(features, outputs)
        for spec in metrics.values():
            given = spec.values(
                entry_of(labels, spec.label_key),
                entry_of(predicted, spec.prediction_key),
            )
            weights = features[spec.weight_key] if spec.weight_key else None
            spec.metric.update_state(*tf.nest.flatten(given), sample_weight=weights)

    more = [spec.metric for spec in metrics.values()]
    kept = [metric for metric in own.metrics if metric.name not in metrics]
    trainer.task.metrics, trainer.task.update_metrics = [*kept, *more], update_metrics
    return trainer


def entry_of(values: Any, key: str | None) -> Any:
    """Returns a value of a dict: that of a key, or the only one."""
    if not isinstance(values, dict):
        return values
    if key is None:
        (key,) = values
    return values[key]
