"""What a compiled Keras loss or metric means, example by example."""

from __future__ import annotations

import ast

import libcst as cst

from ...rules.written_for import written_for_tf2
from ..code.tree import Tree
from ..program import TF, MetricPlan
from ..sites import Blocked

__all__ = ["read_loss", "read_metrics"]

# Name of the function or string in Keras -> class of the same loss.
LOSS_CLASSES = {
    "binary_crossentropy": "BinaryCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "categorical_hinge": "CategoricalHinge",
    "cosine_proximity": "CosineSimilarity",
    "hinge": "Hinge",
    "kld": "KLDivergence",
    "kullback_leibler_divergence": "KLDivergence",
    "logcosh": "LogCosh",
    "mae": "MeanAbsoluteError",
    "mape": "MeanAbsolutePercentageError",
    "mean_absolute_error": "MeanAbsoluteError",
    "mean_absolute_percentage_error": "MeanAbsolutePercentageError",
    "mean_squared_error": "MeanSquaredError",
    "mean_squared_logarithmic_error": "MeanSquaredLogarithmicError",
    "mse": "MeanSquaredError",
    "msle": "MeanSquaredLogarithmicError",
    "poisson": "Poisson",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
    "squared_hinge": "SquaredHinge",
}

METRIC_CLASSES = {
    "binary_accuracy": "BinaryAccuracy",
    "categorical_accuracy": "CategoricalAccuracy",
    "mae": "MeanAbsoluteError",
    "mape": "MeanAbsolutePercentageError",
    "mean_absolute_error": "MeanAbsoluteError",
    "mean_squared_error": "MeanSquaredError",
    "mse": "MeanSquaredError",
    "sparse_categorical_accuracy": "SparseCategoricalAccuracy",
    "sparse_top_k_categorical_accuracy": "SparseTopKCategoricalAccuracy",
    "top_k_categorical_accuracy": "TopKCategoricalAccuracy",
}

# Abbreviations, which TF 1 reported under their whole names.
_WHOLE_NAMES = {
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "mse": "mean_squared_error",
}

# Which accuracy Keras meant by "accuracy" follows from the loss.
ACCURACY = {
    "BinaryCrossentropy": "BinaryAccuracy",
    "CategoricalCrossentropy": "CategoricalAccuracy",
    "SparseCategoricalCrossentropy": "SparseCategoricalAccuracy",
}


def _string(node: cst.BaseExpression | None) -> str | None:
    if isinstance(node, cst.SimpleString):
        value = ast.literal_eval(node.value)
        return value if isinstance(value, str) else None
    return None


def _keras_name(tree: Tree, node: cst.BaseExpression, *folders: str) -> str | None:
    symbol = tree.symbol(node)
    for folder in folders:
        prefix = f"tf.keras.{folder}."
        if symbol is not None and symbol.startswith(prefix):
            return symbol[len(prefix) :]
    return None


def read_loss(tree: Tree, node: cst.BaseExpression) -> tuple[str, bool, str | None]:
    """(source of a per-example loss, is it an object to make once, its class)."""
    line = tree.line(node)
    value = tree.value(node)
    assert value is not None
    text = _string(value)
    name = _keras_name(tree, value, "losses", "metrics", "backend")
    if text is not None or name in LOSS_CLASSES:
        found = LOSS_CLASSES.get(text or name or "")
        if found is None:
            raise Blocked("TFM113", line, f'the loss "{text}" is not known to Keras')
        if found == "CosineSimilarity":
            # TF1's cosine_proximity had per-element form; it is not this class.
            raise Blocked("TFM113", line, "cosine_proximity has no exact equivalent")
        return f'{TF}.keras.losses.{found}(reduction="none")', True, found
    if isinstance(value, cst.Call):
        made = _keras_name(tree, value.func, "losses")
        if made is not None and made in LOSS_CLASSES.values():
            if any(a.keyword and a.keyword.value == "reduction" for a in value.args):
                raise Blocked("TFM113", line, "the loss chooses its own reduction")
            inside = [tree.code(a) for a in value.args]
            inside = [text.rstrip(", \n") for text in inside]
            call = ", ".join([*inside, 'reduction="none"'])
            return f"{TF}.keras.losses.{made}({call})", True, made
        raise Blocked("TFM113", line, "the loss is made by a call not understood")
    if isinstance(value, (cst.List, cst.Dict, cst.Tuple)):
        raise Blocked("TFM113", line, "several losses for several outputs")
    if isinstance(value, cst.Name) and tree.resolver.definition(value) is not None:
        return tree.code(node), False, None
    if isinstance(value, cst.Lambda):
        return tree.code(node), True, None
    raise Blocked("TFM113", line, "the loss is given in a way not understood")


def read_metrics(
    tree: Tree, node: cst.BaseExpression | None, loss_class: str | None
) -> tuple[MetricPlan, ...]:
    """The metrics of a compile call, under the names evaluate gave them."""
    value = tree.value(node)
    if value is None or (isinstance(value, cst.Name) and value.value == "None"):
        return ()
    if not isinstance(value, (cst.List, cst.Tuple)):
        raise Blocked("TFM114", tree.line(value), "metrics are not a plain list")
    found = []
    for element in value.elements:
        if isinstance(element, cst.StarredElement):
            raise Blocked("TFM114", tree.line(element), "metrics with a starred list")
        found.append(_metric(tree, element.value, loss_class))
    if len({metric.key for metric in found}) != len(found):
        raise Blocked("TFM114", tree.line(value), "two metrics of the same name")
    return tuple(found)


def _metric(tree: Tree, node: cst.BaseExpression, loss_class: str | None) -> MetricPlan:
    line = tree.line(node)
    text = _string(tree.value(node))
    if text in ("accuracy", "acc"):
        made = ACCURACY.get(loss_class or "")
        if made is None:
            raise Blocked(
                "TFM114", line, "which accuracy is meant depends on the model's output"
            )
        if _is_read(tree, "acc") and not _is_read(tree, "accuracy"):
            text = "acc"  # Its name in TF 1.15, whichever word it was given.
        return MetricPlan(text, f'{TF}.keras.metrics.{made}(name="{text}")')
    if text is not None:
        if text not in METRIC_CLASSES:
            raise Blocked("TFM114", line, f'the metric "{text}" is not understood')
        made = METRIC_CLASSES[text]
        if not written_for_tf2(tree.resolver):
            text = _WHOLE_NAMES.get(text, text)
        return MetricPlan(text, f'{TF}.keras.metrics.{made}(name="{text}")')
    value = tree.value(node)
    assert value is not None
    name = _keras_name(tree, value, "metrics", "losses")
    if name in METRIC_CLASSES:
        made = METRIC_CLASSES[name]
        return MetricPlan(name, f'{TF}.keras.metrics.{made}(name="{name}")')
    defined = tree.resolver.definition(value)
    if isinstance(defined, cst.FunctionDef):
        name = defined.name.value
        code = f'{TF}.keras.metrics.MeanMetricWrapper({tree.code(node)}, name="{name}")'
        return MetricPlan(name, code)
    raise Blocked("TFM114", line, "a metric is given in a way not understood")


def _is_read(tree: Tree, key: str) -> bool:
    """The program looks for a figure by this key."""
    return any(
        isinstance(node, cst.SimpleString)
        and node.evaluated_value == key
        and isinstance(tree.parent(node), cst.Index)
        for node in tree.nodes
    )
