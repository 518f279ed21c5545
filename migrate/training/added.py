"""What is added to the task of a trainer: metrics, and features among predictions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from . import core


def add_metrics(
    trainer: core.Trainer,
    measured: Callable[..., dict[str, Any]],
    make_metrics: Callable[[], list[Any]],
) -> core.Trainer:
    """Evaluates by more metrics; a function says what each is given, by its name."""
    task, own = trainer.task, [*trainer.task.metrics]
    update, named = task.update_metrics, inspect.signature(measured).parameters
    added = make_metrics()

    def update_metrics(features: Any, labels: Any, outputs: Any) -> None:
        task.metrics = own
        update(features, labels, outputs)
        task.metrics = [*own, *added]
        predictions = task.predictions(features, outputs)
        known = {"features": features, "labels": labels, "predictions": predictions}
        known["config"] = trainer.config
        values = measured(**{name: known[name] for name in named})
        for metric in added:
            given = values[metric.name]
            metric.update_state(*(given if isinstance(given, tuple) else (given,)))

    task.metrics, task.update_metrics = [*own, *added], update_metrics
    return trainer


def forward_features(
    trainer: core.Trainer, keys: str | Sequence[str] | None = None
) -> core.Trainer:
    """Tells features with the predictions, all or some."""
    predictions = trainer.task.predictions

    def with_features(features: Any, outputs: Any) -> Any:
        names = [keys] if isinstance(keys, str) else keys or features
        found = predictions(features, outputs)
        return {**found, **{name: features[name] for name in names}}

    trainer.task.predictions = with_features
    return trainer
