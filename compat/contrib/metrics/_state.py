"""What the metrics of this package keep between batches."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["Pair", "filed", "local_total"]

Pair = tuple[Any, Any]


def local_total(shape: Any, dtype: Any, name: str) -> Any:
    """A sum over batches, reset before every evaluation."""
    return tf.get_local_variable(
        name,
        shape,
        dtype,
        initializer=tf.zeros_initializer(),
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )


def filed(value: Any, update: Any, metrics: Any, updates: Any) -> Pair:
    """The pair, also put into the collections that the caller named."""
    if metrics:
        tf.add_to_collections(metrics, value)
    if updates:
        tf.add_to_collections(updates, update)
    return value, update
