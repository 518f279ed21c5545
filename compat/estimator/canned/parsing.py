"""Parsing specs of training examples: features, label and weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from ..heads.checks import is_numeric_column
from .columns import are_all_new

__all__ = ["classifier_parse_example_spec", "regressor_parse_example_spec"]


def classifier_parse_example_spec(
    feature_columns: Sequence[Any],
    label_key: str,
    label_dtype: Any = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The spec for ``tf.parse_example`` of a classifier's training data."""
    label = tf.FixedLenFeature((1,), label_dtype, label_default)
    return _completed(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Sequence[Any],
    label_key: str,
    label_dtype: Any = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The spec for ``tf.parse_example`` of a regressor's training data."""
    label = tf.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _completed(feature_columns, label_key, label, weight_column)


def _completed(
    feature_columns: Sequence[Any], label_key: str, label: Any, weight_column: Any
) -> dict[str, Any]:
    # The newer helper knows sequence columns too; columns of the older protocol,
    # which shared embeddings of TF 1 have, are known to the older one alone.
    module = tf2 if are_all_new(feature_columns) else tf
    spec: dict[str, Any] = module.feature_column.make_parse_example_spec(
        feature_columns
    )
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, "
            f"features: {spec.keys()}"
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    column = weight_column
    if isinstance(column, str):
        column = tf.feature_column.numeric_column(column)
    if not is_numeric_column(column):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. "
            f"Given type: {type(weight_column)} value: {weight_column}"
        )
    if column.key in spec:
        raise ValueError(
            "weight_column should not be used as feature. weight_column: "
            f"{column.key}, features: {spec.keys()}"
        )
    spec.update(column.parse_example_spec)
    return spec
