"""``MetricSpec``: a metric, and what of a model it looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...engine.callables import argument_names

__all__ = ["MetricSpec", "metric_ops"]


class MetricSpec:
    """A metric function and the keys of what it compares."""

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self.metric_fn = metric_fn
        self.prediction_key = prediction_key
        self.label_key = label_key
        self.weight_key = weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric over these tensors."""
        compared = {
            "predictions": _picked(predictions, self.prediction_key, "prediction_key"),
            "labels": _picked(labels, self.label_key, "label_key"),
        }
        options: dict[str, Any] = {}
        if self.weight_key is not None:
            options["weights"] = inputs[self.weight_key]
        # Metrics differ in the order of their arguments, so names decide.
        names = argument_names(self.metric_fn)
        if "predictions" in names:
            expected = next(
                (
                    name
                    for name in ("labels", "targets", "label", "target")
                    if name in names
                ),
                None,
            )
            if expected is None:
                return self.metric_fn(compared["predictions"], **options)
            return self.metric_fn(
                **{
                    "predictions": compared["predictions"],
                    expected: compared["labels"],
                },
                **options,
            )
        return self.metric_fn(compared["predictions"], compared["labels"], **options)


def _picked(source: Any, key: str | None, what: str) -> Any:
    if not isinstance(source, Mapping):
        return source
    if key is not None:
        return source[key]
    if len(source) == 1:
        return next(iter(source.values()))
    raise ValueError(
        f"MetricSpec without {what} but there are several: {list(source)}."
    )


def metric_ops(
    metrics: Mapping[Any, Any], features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    """The metrics of an ``evaluate`` call, by name.

    A name may be a pair with the key of a prediction, which is older than MetricSpec.
    """
    found = {}
    for name, spec in metrics.items():
        key = None
        if isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(
                    f"Invalid metric for {name}: expected a pair of names."
                )
            name, key = name
        if not isinstance(spec, MetricSpec):
            spec = MetricSpec(spec, prediction_key=key)
        found[name] = spec.create_metric_ops(features, labels, predictions)
    return found
