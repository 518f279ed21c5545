"""``tf.contrib.feature_column``: the input layer of sequences.

The columns themselves are in ``tf.feature_column`` today; see the table in
``surface/contrib_aliases.py``.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator.canned import columns

__all__ = ["sequence_input_layer"]


def sequence_input_layer(
    features: dict[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
) -> tuple[Any, Any]:
    """[batch, time, total width] of all sequence columns, and the lengths."""

    def weights(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        kwargs["trainable"] = trainable and kwargs.get("trainable", True)
        if weight_collections:
            given = kwargs.get("collections") or [tf.GraphKeys.GLOBAL_VARIABLES]
            kwargs["collections"] = [*given, *weight_collections]
        return getter(name, *args, **kwargs)

    with tf.variable_scope(tf.get_variable_scope(), custom_getter=weights):
        dense, lengths, _ = columns.sequence_input(features, list(feature_columns))
        return dense, lengths
