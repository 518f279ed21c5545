"""Loss and metrics of canned Estimators as source text of a loop."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.canned.plan import HeadPlan, Task
from ...plan.program import TF, PredictPlan
from ..module.layout import one_line

__all__ = [
    "batch_loss",
    "example_losses",
    "exports_of",
    "metric_updates",
    "metrics_of",
    "predictions_of",
    "results_of",
]

_SUMMED = "# The loss of a canned Estimator is the sum over a batch, not its mean.\n"


def example_losses(head: HeadPlan, names: Mapping[str, str]) -> str:
    """Statements from ``features``, ``labels`` and ``logits`` to ``losses``."""
    labels = "labels"
    if head.vocabulary is not None:
        labels = f"{names['label_ids']}(labels)"
    one = head.task == Task.MULTI_CLASS
    shape = "[-1]" if one else f"[-1, {head.units}]"
    targets = f"{TF}.reshape({labels}, {shape})"
    code = ""
    if not one:
        targets = f"{TF}.cast({targets}, {TF}.float32)"
    code += f"targets = {targets}\n"
    if head.task == Task.BINARY:
        code += (
            f"losses = {TF}.nn.sigmoid_cross_entropy_with_logits("
            "labels=targets, logits=logits)\n"
        )
    elif head.task == Task.MULTI_CLASS:
        code += (
            f"losses = {TF}.nn.sparse_softmax_cross_entropy_with_logits("
            "labels=targets, logits=logits)\n"
        )
    else:
        code += f"losses = {TF}.math.squared_difference(logits, targets)\n"
    if head.weights is not None:
        shape = "[-1]" if one else "[-1, 1]"
        code += (
            f"weights = {TF}.cast({TF}.reshape(features[{head.weights}], {shape}), "
            f"{TF}.float32)\n"
        )
    return code


def batch_loss(head: HeadPlan) -> tuple[str, str]:
    """A comment, and the expression of one loss for a replica's batch."""
    losses = "losses" if head.weights is None else "weights * losses"
    if head.reduction == "sum":
        return _SUMMED, f"{TF}.reduce_sum({losses})"
    if head.weights is None or head.reduction == "mean":
        return "", f"{TF}.reduce_mean({losses})"
    every = f"(weights * {TF}.ones_like(losses))" if _spread(head) else "weights"
    if head.reduction == "weighted_mean":
        count = f"{TF}.reduce_sum({every})"
    else:
        count = f"{TF}.math.count_nonzero({every}, dtype={TF}.float32)"
    return "", f"{TF}.reduce_sum({losses}) / {count}"


def _spread(head: HeadPlan) -> bool:
    """One weight stands for several losses."""
    return head.task == Task.REGRESSION and head.units != "1"


def metrics_of(head: HeadPlan) -> list[tuple[str, str, str]]:
    """(variable, key, constructor) of every metric, in the order of their keys.

    The variable ``test_metrics`` stands for the list of those that take targets
    and probabilities.
    """
    mean = f"{TF}.keras.metrics.Mean"
    found = [("test_loss", "loss", mean), ("test_average_loss", "average_loss", mean)]
    if head.task == Task.MULTI_CLASS:
        accuracy = f"{TF}.keras.metrics.Accuracy"
        return [*found, ("test_accuracy", "accuracy", accuracy)]
    found.append(("test_label_mean", "label/mean", mean))
    found.append(("test_prediction_mean", "prediction/mean", mean))
    if head.task == Task.BINARY:
        keras = f"{TF}.keras.metrics"
        found += [
            ("test_metrics", "accuracy", f"{keras}.BinaryAccuracy"),
            ("test_metrics", "precision", f"{keras}.Precision"),
            ("test_metrics", "recall", f"{keras}.Recall"),
            ("test_metrics", "auc", f"{keras}.AUC"),
            ("test_metrics", "auc_precision_recall", "PrecisionRecallAUC"),
        ]
    return found


def metric_updates(head: HeadPlan, names: Mapping[str, str]) -> str:
    """What a batch of test data adds to the metrics."""
    weights = "" if head.weights is None else ", weights"
    code = f"{names['test_average_loss']}.update_state(losses{weights})\n"
    if head.task == Task.MULTI_CLASS:
        return code + (
            f"{names['test_accuracy']}.update_state("
            f"targets, {TF}.argmax(logits, axis=-1){weights})\n"
        )
    predictions = "logits"
    if head.task == Task.BINARY:
        predictions = "probabilities"
        code += f"probabilities = {TF}.sigmoid(logits)\n"
    code += f"{names['test_label_mean']}.update_state(targets{weights})\n"
    code += f"{names['test_prediction_mean']}.update_state({predictions}{weights})\n"
    if head.task == Task.BINARY:
        code += (
            f"for metric in {names['test_metrics']}:\n"
            f"    metric.update_state(targets, probabilities{weights})\n"
        )
    return code


def results_of(head: HeadPlan) -> str:
    """Statements after the metrics' own results."""
    if head.task != Task.BINARY:
        return ""
    return (
        "# What always answering with the more frequent class would score.\n"
        'positive = results["label/mean"]\n'
        'results["accuracy_baseline"] = max(positive, 1 - positive)\n'
    )


def predictions_of(head: HeadPlan) -> str:
    """Statements from ``logits`` to the dict of predictions, which they return."""
    if head.task == Task.REGRESSION:
        return 'return {"predictions": logits}\n'
    code, scores = "", "logits"
    entries = {"logits": "logits"}
    if head.task == Task.BINARY:
        scores = "two_logits"
        code = f"two_logits = {TF}.concat([{TF}.zeros_like(logits), logits], axis=-1)\n"
        entries["logistic"] = f"{TF}.sigmoid(logits)"
    code += f"class_ids = {TF}.argmax({scores}, axis=-1)[:, {TF}.newaxis]\n"
    entries["probabilities"] = f"{TF}.nn.softmax({scores})"
    entries["class_ids"] = "class_ids"
    count = "2" if head.task == Task.BINARY else head.units
    zeros = f"{TF}.zeros_like(class_ids, {TF}.int32)"
    code += f"all_class_ids = {zeros} + {TF}.range({count})\n"
    for classes, ids in (("classes", "class_ids"), ("all_classes", "all_class_ids")):
        entries[classes] = f"{TF}.as_string({ids})"
        if head.vocabulary is not None:
            entries[classes] = f"{TF}.gather({one_line(head.vocabulary)}, {ids})"
        entries.setdefault("all_class_ids", "all_class_ids")
    inside = "".join(f'    "{key}": {value},\n' for key, value in entries.items())
    return f"{code}return {{\n{inside}}}\n"


def exports_of(head: HeadPlan, predict_step: str) -> list[tuple[str, PredictPlan]]:
    """The signatures of an export: each picks from what predict answers."""
    answer = (f"answer = {predict_step}(features)\n",)
    if head.task == Task.REGRESSION:
        value = "predictions"
        found = []
    else:
        value = "logistic"
        entries = '"classes": answer["all_classes"], "scores": answer["probabilities"]'
        classify = PredictPlan(answer, f"{{{entries}}}", True, "classify")
        found = [("serving_default", classify), ("classification", classify)]
    if head.task != Task.MULTI_CLASS:
        regress = PredictPlan(
            answer, f'{{"outputs": answer["{value}"]}}', True, "regress"
        )
        if not found:
            found.append(("serving_default", regress))
        found.append(("regression", regress))
    found.append(("predict", PredictPlan((), f"{predict_step}(features)", True)))
    return found
