"""eval_metric_ops of a model_fn as Keras metrics with the same figures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.statements import binds, latest
from ..code.tree import Statement, only_small
from ..program import TF, MetricUpdate
from .source import Source

__all__ = ["read_metrics"]

Text = Callable[[cst.BaseExpression], str]

_TAIL = ("metrics_collections", "updates_collections", "name")
_LABELS = ("labels", "predictions", "weights", *_TAIL)
_CLASSES = ("labels", "predictions", "num_classes", "weights", *_TAIL)
# tf.metrics function -> Keras class with the same figure, its parameters.
_METRICS = {
    "accuracy": ("Accuracy", _LABELS),
    "false_negatives": ("FalseNegatives", _LABELS),
    "false_positives": ("FalsePositives", _LABELS),
    "mean": ("Mean", ("values", "weights", *_TAIL)),
    "mean_absolute_error": ("Mean", _LABELS),
    "mean_iou": ("MeanIoU", _CLASSES),
    "mean_squared_error": ("Mean", _LABELS),
    "precision": ("Precision", _LABELS),
    "recall": ("Recall", _LABELS),
    "root_mean_squared_error": ("RootMeanSquaredError", _LABELS),
    "true_negatives": ("TrueNegatives", _LABELS),
    "true_positives": ("TruePositives", _LABELS),
    "auc": (
        "AUC",
        (
            "labels",
            "predictions",
            "weights",
            "num_thresholds",
            "metrics_collections",
            "updates_collections",
            "curve",
            "name",
            "summation_method",
            "thresholds",
        ),
    ),
}
# These compare truth values; Keras compares numbers with a threshold.
_BOOLEAN = (
    "false_negatives",
    "false_positives",
    "precision",
    "recall",
    "true_negatives",
    "true_positives",
)
# Means of a loss for each element, which compat.v1 computes with TF1's squeezing
# of a last dimension of one.
_ELEMENTS = {
    "mean_absolute_error": "absolute_difference",
    "mean_squared_error": "mean_squared_error",
}


def read_metrics(
    source: Source,
    statements: Sequence[Statement],
    node: cst.BaseExpression | None,
    text: Text,
) -> list[MetricUpdate]:
    """The metrics of a spec after the statements of its mode."""
    if isinstance(node, cst.Name) and _is_filled(statements, node.value):
        raise source.stop(node, "eval_metric_ops is filled step by step")
    metrics = latest(source.tree, statements, node)
    if is_none(metrics):
        return []
    assert metrics is not None
    if isinstance(metrics, cst.Call) and source.tree.code(metrics.func) == "dict":
        pairs = []
        for argument in metrics.args:
            if argument.keyword is None:
                raise source.stop(metrics, "eval_metric_ops is not a plain dict")
            pairs.append((argument.keyword.value, argument.value))
    elif isinstance(metrics, cst.Dict):
        pairs = []
        for element in metrics.elements:
            if not isinstance(element, cst.DictElement):
                raise source.stop(element, "eval_metric_ops is not a plain dict")
            if not isinstance(element.key, cst.SimpleString):
                raise source.stop(element, "a metric without a literal name")
            key = str(ast.literal_eval(element.key.value))
            pairs.append((key, element.value))
    else:
        raise source.stop(metrics, "eval_metric_ops is not a plain dict")
    return [
        replace(_metric(source, statements, f'"{key}"', value, text), key=key)
        for key, value in pairs
    ]


def _is_filled(statements: Sequence[Statement], name: str) -> bool:
    """More than one statement makes what the name holds in the end."""
    making = 0
    for statement in statements:
        small = only_small(statement)
        if isinstance(small, cst.Assign) and any(
            isinstance(t.target, cst.Name) and t.target.value == name
            for t in small.targets
        ):
            making = 0
        making += name in binds(statement)
    return making > 1


def _metric(
    source: Source,
    statements: Sequence[Statement],
    key: str,
    node: cst.BaseExpression,
    text: Text,
) -> MetricUpdate:
    value = latest(source.tree, statements, node)
    symbol = source.tree.symbol(value.func) if isinstance(value, cst.Call) else None
    short = (symbol or "").removeprefix("tf.metrics.")
    short = {"tf.contrib.metrics.streaming_accuracy": "accuracy"}.get(short, short)
    if not isinstance(value, cst.Call) or short not in _METRICS:
        shown = symbol or source.tree.code(node)
        raise source.stop(node, f"the metric `{shown}` has no exact Keras twin yet")
    keras, parameters = _METRICS[short]
    try:
        given = match_arguments(value, parameters)
    except UnknownArguments as problem:
        raise source.stop(node, f"metric with {problem}") from None
    for name in ("metrics_collections", "updates_collections"):
        if not is_none(given.get(name)):
            raise source.stop(node, f"metric with `{name}`")
    made = [f"name={key}"]
    if short == "auc":
        made += _auc(source, value, given, text)
    if parameters is _CLASSES:
        made.insert(0, text(given["num_classes"]))
    names = ("values",) if short == "mean" else ("labels", "predictions")
    arguments = [text(given[name]) for name in names]
    if short in _ELEMENTS:
        inside = ", ".join(arguments)
        arguments = [
            f'{TF}.compat.v1.losses.{_ELEMENTS[short]}({inside}, reduction="none")'
        ]
    if short in _BOOLEAN:
        arguments = [f"{TF}.cast({code}, {TF}.bool)" for code in arguments]
    if not is_none(given.get("weights")):
        if short == "root_mean_squared_error":
            raise source.stop(node, "a weighted root_mean_squared_error")
        arguments.append(f"sample_weight={text(given['weights'])}")
    code = f"{TF}.keras.metrics.{keras}({', '.join(made)})"
    return MetricUpdate(key, code, tuple(arguments))


def _auc(
    source: Source,
    call: cst.Call,
    given: dict[str, cst.BaseExpression],
    text: Text,
) -> list[str]:
    """Keras takes the same thresholds; for ROC its sum is the trapezoidal one."""
    made = []
    if not is_none(given.get("thresholds")):
        raise source.stop(call, "auc with thresholds of its own")
    for name, expected in (("curve", "ROC"), ("summation_method", "trapezoidal")):
        node = given.get(name)
        if node is None:
            continue
        if not isinstance(node, cst.SimpleString) or node.evaluated_value != expected:
            raise source.stop(call, f"auc(`{name}`=) has no exact Keras twin")
    if "num_thresholds" in given:
        made.append(f"num_thresholds={text(given['num_thresholds'])}")
    return made
