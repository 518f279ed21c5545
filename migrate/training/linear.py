"""Linear models of feature columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf
import tf_keras


class LinearModel(tf_keras.Model):
    """Adds up weights for each category and each number, all zero at first."""

    def __init__(
        self, feature_columns: Iterable[Any], units: int = 1, combiner: str = "sum"
    ) -> None:
        super().__init__()
        self.units, self.combiner = units, combiner
        ordered = sorted(feature_columns, key=lambda column: column.name)
        self.columns = [self.weights_of(column) for column in ordered]
        self.bias = self.add_weight(name="bias", shape=[units], initializer="zeros")

    def weights_of(self, column: Any) -> Any:
        """Returns the layers that turn a column into its share of the logits."""
        if hasattr(column, "num_buckets"):  # a column of categories
            zeros = tf.zeros_initializer()
            column = tf.feature_column.embedding_column(
                column, self.units, self.combiner, zeros
            )
            return tf_keras.layers.DenseFeatures(column)
        dense = tf_keras.layers.Dense(
            self.units, use_bias=False, kernel_initializer="zeros"
        )
        return tf_keras.Sequential([tf_keras.layers.DenseFeatures(column), dense])

    def call(self, features: Any) -> Any:
        shares = [column(features) for column in self.columns]
        return tf.add_n(shares) + self.bias
