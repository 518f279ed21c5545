"""Functions of tf.metrics as Keras metrics with the same figures."""

from __future__ import annotations

from ..interp.arguments import Argument
from ..interp.in_mode import Called
from ..plan.code.statements import binds, loads
from ..plan.program import TF, MetricUpdate
from .steps import Steps

__all__ = ["METRICS", "metric"]

_LABELS = ("labels", "predictions", "weights")
# What tf.metrics calls each, and Keras' class with the same figure.
_NAMED = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "false_negatives": "FalseNegatives",
    "false_positives": "FalsePositives",
    "mean": "Mean",
    "mean_absolute_error": "Mean",
    "mean_iou": "MeanIoU",
    "mean_squared_error": "Mean",
    "precision": "Precision",
    "recall": "Recall",
    "root_mean_squared_error": "RootMeanSquaredError",
    "true_negatives": "TrueNegatives",
    "true_positives": "TruePositives",
}
_OTHERS = {"tf.contrib.metrics.streaming_accuracy": "accuracy"}
METRICS = (*(f"tf.metrics.{name}" for name in _NAMED), *_OTHERS)
# Parameters of those that have others.
_PARAMETERS = {
    "auc": (*_LABELS, "num_thresholds", "", "", "curve", "name", "summation_method"),
    "mean": ("values", "weights"),
    "mean_iou": ("labels", "predictions", "num_classes", "weights"),
}
# These compare truth values; Keras compares numbers with a threshold.
_BOOLEAN = ("false_", "precision", "recall", "true_")
# Means of a loss for each element, which compat.v1 computes with TF1's squeezing
# of a last dimension of one.
_ELEMENTS = {
    "mean_absolute_error": "absolute_difference",
    "mean_squared_error": "mean_squared_error",
}
# For ROC, the sum that Keras takes is the trapezoidal one.
_ONLY = {"curve": "ROC", "summation_method": "trapezoidal"}


def metric(steps: Steps, key: str, called: Called) -> MetricUpdate:
    """The metric under a name, and what each batch gives it."""
    assert called.node is not None
    short = _OTHERS.get(called.symbol) or called.symbol.removeprefix("tf.metrics.")
    parameters = (*_PARAMETERS.get(short, _LABELS), "name")
    given = steps.arguments(called, parameters)
    made = [f'name="{key}"']
    for name, only in _ONLY.items():
        if name in given and getattr(given[name].value, "value", "") != only:
            raise steps.stop(called.node, f"auc(`{name}`=) has no exact Keras twin")
    if "num_thresholds" in given:
        made.append(f"num_thresholds={_plain(steps, given['num_thresholds'])}")
    if "num_classes" in given:
        made.insert(0, _plain(steps, given["num_classes"]))
    names = ("values",) if short == "mean" else ("labels", "predictions")
    if not given.keys() >= {*names}:
        raise steps.stop(called.node, f"`{called.symbol}` without {names[-1]}")
    arguments = [steps.expression(given[name].node) for name in names]
    if short in _ELEMENTS:
        inside = f'{", ".join(arguments)}, reduction="none"'
        arguments = [f"{TF}.compat.v1.losses.{_ELEMENTS[short]}({inside})"]
    if short.startswith(_BOOLEAN):
        arguments = [f"{TF}.cast({code}, {TF}.bool)" for code in arguments]
    if "weights" in given:
        if short == "root_mean_squared_error":
            raise steps.stop(called.node, "a weighted root_mean_squared_error")
        arguments.append(f"sample_weight={steps.expression(given['weights'].node)}")
    code = f"{TF}.keras.metrics.{_NAMED[short]}({', '.join(made)})"
    return MetricUpdate(key, code, tuple(arguments))


def _plain(steps: Steps, one: Argument) -> str:
    """Source of what a metric is made with, before the first batch."""
    bound = {name for statement in steps.found.taken for name in binds(statement)}
    hidden = sorted(loads(steps.tree, one.node) & (bound | {"features", "labels"}))
    if hidden:
        raise steps.stop(one.node, f"a metric that is made with `{hidden[0]}`")
    return steps.expression(one.node)
