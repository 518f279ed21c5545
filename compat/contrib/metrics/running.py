"""Figures over everything seen: counts, values, covariances, agreement."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ._state import Pair, filed, local_total

__all__ = [
    "cohen_kappa",
    "count",
    "streaming_concat",
    "streaming_covariance",
    "streaming_pearson_correlation",
]


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """How many elements have been seen (or the sum of their weights)."""
    with tf.variable_scope(name, "count", (values, weights)):
        total = local_total([], tf.float32, "count")
        if weights is None:
            seen = tf.cast(tf.size(values), tf.float32)
        else:
            values = tf.cast(tf.ones_like(values), tf.float32)
            seen = tf.reduce_sum(values * tf.cast(weights, tf.float32))
        with tf.control_dependencies([values] if tf.is_tensor(values) else []):
            update = tf.assign_add(total, seen)
        return filed(
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
        return filed(value, update, metrics_collections, updates_collections)


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
            local_total([], tf.float32, label)
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
        return filed(value, update, metrics_collections, updates_collections)


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
        return filed(value, update, metrics_collections, updates_collections)


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
            local_total([num_classes], tf.int64, label)
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
        return filed(value, kappa(*updates), metrics_collections, updates_collections)
