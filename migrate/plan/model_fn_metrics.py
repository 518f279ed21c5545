"""eval_metric_ops of a model_fn as Keras metrics with the same figures."""

from __future__ import annotations

import ast

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments
from .model_fn_source import Source
from .program import TF, MetricUpdate

__all__ = ["read_metric"]

# tf.metrics function -> Keras class with the same figure.
_METRICS = {
    "tf.metrics.accuracy": "Accuracy",
    "tf.metrics.mean": "Mean",
    "tf.metrics.mean_absolute_error": "MeanAbsoluteError",
    "tf.metrics.mean_squared_error": "MeanSquaredError",
    "tf.metrics.root_mean_squared_error": "RootMeanSquaredError",
}


def read_metric(source: Source, element: cst.DictElement) -> MetricUpdate:
    key = element.key
    if not isinstance(key, cst.SimpleString):
        raise source.stop(element, "a metric without a literal name")
    value = source.tree.value(element.value)
    symbol = source.tree.symbol(value.func) if isinstance(value, cst.Call) else None
    if not isinstance(value, cst.Call) or symbol not in _METRICS:
        shown = symbol or source.tree.code(element.value)
        raise source.stop(element, f"the metric `{shown}` has no exact Keras twin yet")
    parameters = (
        ("values", "weights", "name")
        if symbol == "tf.metrics.mean"
        else ("labels", "predictions", "weights", "name")
    )
    try:
        given = match_arguments(
            value,
            (
                *parameters[:-1],
                "metrics_collections",
                "updates_collections",
                "name",
            ),
        )
    except UnknownArguments as problem:
        raise source.stop(element, f"metric with {problem}") from None
    if not is_none(given.get("weights")):
        raise source.stop(element, "a metric with weights")
    arguments = tuple(source.tree.code(given[n]) for n in parameters[:-2])
    name = ast.literal_eval(key.value)
    code = f'{TF}.keras.metrics.{_METRICS[symbol]}(name="{name}")'
    return MetricUpdate(str(name), code, arguments)
