"""``tf.contrib.metrics``: predictions first, labels second, prefix ``streaming_``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

_m = tf.metrics

Pair = tuple[Any, Any]


def _swapped(name: str, now: Callable[..., Any], *between: str) -> Callable[..., Any]:
    """The metric ``now(labels, predictions, *between, ...)`` with its old order."""

    def metric(predictions: Any, labels: Any, *args: Any, **kwargs: Any) -> Any:
        return now(labels, predictions, *args, **kwargs)

    metric.__name__ = metric.__qualname__ = name
    extra = "".join(f", {item}" for item in between)
    metric.__doc__ = f"``{name}(predictions, labels{extra}, weights=None, ...)``."
    metric.__module__ = __name__
    return metric


streaming_accuracy = _swapped("streaming_accuracy", _m.accuracy)
streaming_auc = _swapped("streaming_auc", _m.auc)
streaming_false_negatives = _swapped("streaming_false_negatives", _m.false_negatives)
streaming_false_positives = _swapped("streaming_false_positives", _m.false_positives)
streaming_true_negatives = _swapped("streaming_true_negatives", _m.true_negatives)
streaming_true_positives = _swapped("streaming_true_positives", _m.true_positives)
streaming_false_negatives_at_thresholds = _swapped(
    "streaming_false_negatives_at_thresholds",
    _m.false_negatives_at_thresholds,
    "thresholds",
)
streaming_false_positives_at_thresholds = _swapped(
    "streaming_false_positives_at_thresholds",
    _m.false_positives_at_thresholds,
    "thresholds",
)
streaming_true_negatives_at_thresholds = _swapped(
    "streaming_true_negatives_at_thresholds",
    _m.true_negatives_at_thresholds,
    "thresholds",
)
streaming_true_positives_at_thresholds = _swapped(
    "streaming_true_positives_at_thresholds",
    _m.true_positives_at_thresholds,
    "thresholds",
)
streaming_mean_absolute_error = _swapped(
    "streaming_mean_absolute_error", _m.mean_absolute_error
)
streaming_mean_cosine_distance = _swapped(
    "streaming_mean_cosine_distance", _m.mean_cosine_distance, "dim"
)
streaming_mean_iou = _swapped("streaming_mean_iou", _m.mean_iou, "num_classes")
streaming_mean_relative_error = _swapped(
    "streaming_mean_relative_error", _m.mean_relative_error, "normalizer"
)
streaming_mean_squared_error = _swapped(
    "streaming_mean_squared_error", _m.mean_squared_error
)
streaming_precision = _swapped("streaming_precision", _m.precision)
streaming_precision_at_thresholds = _swapped(
    "streaming_precision_at_thresholds", _m.precision_at_thresholds, "thresholds"
)
streaming_recall = _swapped("streaming_recall", _m.recall)
streaming_recall_at_thresholds = _swapped(
    "streaming_recall_at_thresholds", _m.recall_at_thresholds, "thresholds"
)
streaming_root_mean_squared_error = _swapped(
    "streaming_root_mean_squared_error", _m.root_mean_squared_error
)
streaming_sensitivity_at_specificity = _swapped(
    "streaming_sensitivity_at_specificity",
    _m.sensitivity_at_specificity,
    "specificity",
)
streaming_specificity_at_sensitivity = _swapped(
    "streaming_specificity_at_sensitivity",
    _m.specificity_at_sensitivity,
    "sensitivity",
)
streaming_sparse_average_precision_at_k = _swapped(
    "streaming_sparse_average_precision_at_k", _m.average_precision_at_k, "k"
)
streaming_sparse_precision_at_k = _swapped(
    "streaming_sparse_precision_at_k", _m.precision_at_k, "k"
)
streaming_sparse_recall_at_k = _swapped(
    "streaming_sparse_recall_at_k", _m.recall_at_k, "k"
)
streaming_mean = _m.mean
streaming_mean_tensor = _m.mean_tensor
streaming_percentage_less = _m.percentage_below
sparse_recall_at_top_k = _m.recall_at_top_k
set_difference = tf.sets.set_difference
set_intersection = tf.sets.set_intersection
set_size = tf.sets.set_size
set_union = tf.sets.set_union


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any, labels: Any, *args: Any, **kwargs: Any
) -> Any:
    """Precision of given top-k class numbers."""
    return _m.precision_at_top_k(labels, top_k_predictions, *args, **kwargs)


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """How often the label is among the k best predictions."""
    hits = tf.cast(tf.nn.in_top_k(predictions, labels, k), tf.float32)
    return _m.mean(
        hits,
        weights,
        metrics_collections,
        updates_collections,
        name or f"recall_at_{k}",
    )


def accuracy(
    predictions: Any, labels: Any, weights: Any = None, name: str | None = None
) -> Any:
    """The share of equal elements in this batch; not a streaming metric."""
    if labels.dtype != predictions.dtype:
        raise ValueError(
            "dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype}) and labels ({labels.dtype})"
        )
    with tf.name_scope(name, "accuracy", [predictions, labels]):
        hits = tf.cast(tf.equal(predictions, labels), tf.float32)
        if weights is None:
            return tf.reduce_mean(hits)
        hits = tf.multiply(hits, weights)
        total = tf.reduce_sum(tf.multiply(weights, tf.ones_like(hits)))
        return tf.div_no_nan(tf.reduce_sum(hits), total)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = tf.int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """Counts of label against prediction."""
    return tf.confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=dtype, name=name
    )


def aggregate_metrics(*value_update_tuples: Pair) -> tuple[list[Any], list[Any]]:
    """The values of several metrics, and their updates."""
    if not value_update_tuples:
        raise ValueError(
            "Expected at least one value_tensor/update_op pair to be provided"
        )
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: dict[str, Pair],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of several metrics by name, and their updates by name."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    updates = {name: pair[1] for name, pair in names_to_tuples.items()}
    return values, updates


def _local(shape: Any, dtype: Any, name: str) -> Any:
    return tf.get_local_variable(
        name,
        shape,
        dtype,
        initializer=tf.zeros_initializer(),
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )


def _filed(value: Any, update: Any, metrics: Any, updates: Any) -> Pair:
    if metrics:
        tf.add_to_collections(metrics, value)
    if updates:
        tf.add_to_collections(updates, update)
    return value, update


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """How many elements have been seen (or the sum of their weights)."""
    with tf.variable_scope(name, "count", (values, weights)):
        total = _local([], tf.float32, "count")
        if weights is None:
            seen = tf.cast(tf.size(values), tf.float32)
        else:
            values = tf.cast(tf.ones_like(values), tf.float32)
            seen = tf.reduce_sum(values * tf.cast(weights, tf.float32))
        with tf.control_dependencies([values] if tf.is_tensor(values) else []):
            update = tf.assign_add(total, seen)
        return _filed(
            tf.identity(total), update, metrics_collections, updates_collections
        )


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """Everything seen so far, in one tensor along ``axis``."""
    with tf.variable_scope(name, "streaming_concat", (values,)):
        values = tf.convert_to_tensor(values)
        rank = values.get_shape().ndims
        axis %= rank
        order = [axis, *[i for i in range(rank) if i != axis]]
        moved = tf.transpose(values, order)
        rest = moved.get_shape()[1:]
        if not rest.is_fully_defined():
            raise ValueError("all dimensions but the axis must be known")
        store = tf.Variable(
            tf.zeros([0, *rest.as_list()], values.dtype),
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
            validate_shape=False,
            shape=tf.TensorShape([None]).concatenate(rest),
            use_resource=True,
            name="array",
        )

        def whole() -> Any:
            array = tf.ensure_shape(
                store.read_value(), tf.TensorShape([None]).concatenate(rest)
            )
            back = [order.index(i) for i in range(rank)]
            return tf.transpose(array, back)

        joined = tf.concat([store.read_value(), moved], 0)
        if max_size is not None:
            joined = joined[:max_size]
        value = whole()
        assigned = store.assign(joined)
        with tf.control_dependencies(
            [assigned.op if hasattr(assigned, "op") else assigned]
        ):
            # As in TF 1 the update gives how much is held, not what.
            update = tf.shape(store.read_value())[0]
        return _filed(value, update, metrics_collections, updates_collections)


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The unbiased covariance of everything seen so far."""
    with tf.variable_scope(name, "covariance", (predictions, labels, weights)):
        x = tf.cast(predictions, tf.float32)
        y = tf.cast(labels, tf.float32)
        n, mean_x, mean_y, moment = (
            _local([], tf.float32, label)
            for label in ("count", "mean_prediction", "mean_label", "comoment")
        )
        w = (
            tf.ones_like(x)
            if weights is None
            else tf.cast(weights, x.dtype) * tf.ones_like(x)
        )
        batch = tf.reduce_sum(w)
        batch_x = tf.div_no_nan(tf.reduce_sum(x * w), batch)
        batch_y = tf.div_no_nan(tf.reduce_sum(y * w), batch)
        inner = tf.reduce_sum((x - batch_x) * (y - batch_y) * w)
        old_n, old_x, old_y = tf.identity(n), tf.identity(mean_x), tf.identity(mean_y)
        new_n = old_n + batch
        delta_x, delta_y = batch_x - old_x, batch_y - old_y
        new_x = old_x + tf.div_no_nan(delta_x * batch, new_n)
        new_y = old_y + tf.div_no_nan(delta_y * batch, new_n)
        cross = tf.div_no_nan(delta_x * delta_y * old_n * batch, new_n)
        with tf.control_dependencies([new_n, new_x, new_y, cross, inner]):
            updates = [
                tf.assign(n, new_n),
                tf.assign(mean_x, new_x),
                tf.assign(mean_y, new_y),
                tf.assign_add(moment, inner + cross),
            ]
        value = _over(tf.identity(moment), tf.identity(n))
        update = _over(updates[3], updates[0])
        with tf.control_dependencies(updates):
            update = tf.identity(update)
        return _filed(value, update, metrics_collections, updates_collections)


def _over(moment: Any, n: Any) -> Any:
    return tf.where(
        tf.less_equal(n, 1.0), tf.constant(float("nan")), moment / (n - 1.0)
    )


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The correlation of everything seen so far."""
    with tf.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        cov = streaming_covariance(predictions, labels, weights, name="covariance")
        var_x = streaming_covariance(
            predictions, predictions, weights, name="variance_predictions"
        )
        var_y = streaming_covariance(labels, labels, weights, name="variance_labels")
        value, update = (
            tf.div_no_nan(cov[i], tf.sqrt(var_x[i]) * tf.sqrt(var_y[i])) for i in (0, 1)
        )
        return _filed(value, update, metrics_collections, updates_collections)


def _rate(
    name: str, wrong: Callable[..., Any], right: Callable[..., Any], doc: str
) -> Callable[..., Any]:
    def metric(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = name.removeprefix("streaming_"),
    ) -> Pair:
        with tf.variable_scope(name, None, (predictions, labels, weights)):
            bad = wrong(labels, predictions, weights)
            good = right(labels, predictions, weights)
            value, update = (
                tf.div_no_nan(bad[i], bad[i] + good[i], name=label)
                for i, label in ((0, "value"), (1, "update_op"))
            )
            return _filed(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = doc
    metric.__module__ = __name__
    return metric


streaming_false_positive_rate = _rate(
    "streaming_false_positive_rate",
    _m.false_positives,
    _m.true_negatives,
    "The share of negatives that were predicted positive.",
)
streaming_false_negative_rate = _rate(
    "streaming_false_negative_rate",
    _m.false_negatives,
    _m.true_positives,
    "The share of positives that were predicted negative.",
)


def _best_over_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any,
    num_thresholds: int,
    choose: Callable[..., Any],
) -> Pair:
    """A figure chosen from the confusion counts at evenly spaced thresholds."""
    epsilon = 1e-7
    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    thresholds = [-epsilon, *inner, 1.0 + epsilon]
    counts = [
        fn(labels, predictions, thresholds, weights)
        for fn in (
            _m.true_positives_at_thresholds,
            _m.false_positives_at_thresholds,
            _m.false_negatives_at_thresholds,
        )
    ]
    value = choose(*[pair[0] for pair in counts], thresholds)
    update = choose(*[pair[1] for pair in counts], thresholds)
    return value, update


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The greatest F1 over the thresholds."""

    def choose(tp: Any, fp: Any, fn: Any, _thresholds: Any) -> Any:
        precision = tp / (1e-8 + tp + fp)
        recall = tp / (1e-8 + tp + fn)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + 1e-8))

    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        pair = _best_over_thresholds(
            labels, predictions, weights, num_thresholds, choose
        )
        return _filed(*pair, metrics_collections, updates_collections)


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The precision at the greatest threshold that keeps the wanted recall."""
    if not 0 <= target_recall <= 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def choose(tp: Any, fp: Any, fn: Any, _thresholds: Any) -> Any:
        recall = tf.div(tp, tp + fn + 1e-7)
        # Recall falls as the threshold rises: this is the last that suffices.
        place = tf.reduce_sum(tf.cast(recall >= target_recall, tf.int32)) - 1
        return tf.div(tp[place], tp[place] + fp[place] + 1e-7)

    with tf.variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        pair = _best_over_thresholds(
            labels, predictions, weights, num_thresholds, choose
        )
        return _filed(*pair, metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Pair:
    """The recall at the threshold whose precision comes closest from above."""
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def choose(tp: Any, fp: Any, fn: Any, _thresholds: Any) -> Any:
        found = tf.div(tp, tp + fp + 1e-7)
        gap = found - precision
        above = tf.where(gap >= 0, gap, tf.fill(tf.shape(gap), float("inf")))
        any_above = tf.reduce_any(gap >= 0)
        place = tf.where(
            any_above,
            tf.argmin(above, 0, output_type=tf.int32),
            tf.argmin(tf.abs(gap), 0, output_type=tf.int32),
        )
        recall = tf.div(tp[place], tp[place] + fn[place] + 1e-7)
        if strict_mode:
            recall = tf.where(any_above, recall, tf.zeros_like(recall))
        return recall

    with tf.variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        pair = _best_over_thresholds(
            labels, predictions, weights, num_thresholds, choose
        )
        return _filed(*pair, metrics_collections, updates_collections)


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """Agreement between two raters beyond chance."""
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with tf.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels = tf.reshape(labels, [-1])
        predicted = tf.reshape(predictions_idx, [-1])
        if weights is not None:
            weights = tf.reshape(tf.cast(weights, tf.int64), [-1])
        counts = tf.confusion_matrix(
            labels, predicted, num_classes, weights=weights, dtype=tf.int64
        )
        totals = [
            _local([num_classes], tf.int64, label)
            for label in ("po", "pe_row", "pe_col")
        ]
        batch = [
            tf.diag_part(counts),
            tf.reduce_sum(counts, 0),
            tf.reduce_sum(counts, 1),
        ]
        updates = [
            tf.assign_add(total, part)
            for total, part in zip(totals, batch, strict=True)
        ]

        def kappa(agreed: Any, row: Any, column: Any) -> Any:
            total = tf.cast(tf.reduce_sum(row), tf.float64)
            chance = tf.reduce_sum(
                tf.cast(row, tf.float64) * tf.cast(column, tf.float64)
            )
            expected = tf.div_no_nan(chance, total)
            hits = tf.cast(tf.reduce_sum(agreed), tf.float64)
            return tf.div_no_nan(hits - expected, total - expected)

        value = kappa(*[tf.identity(total) for total in totals])
        return _filed(value, kappa(*updates), metrics_collections, updates_collections)


_PREFIXES = ("streaming_", "set_", "aggregate_", "sparse_")

__all__ = [
    *sorted(name for name in globals() if name.startswith(_PREFIXES)),
    "accuracy",
    "cohen_kappa",
    "confusion_matrix",
    "count",
    "f1_score",
    "precision_at_recall",
    "recall_at_precision",
]
