"""Linear models of feature columns, and of none."""

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
        self.bias = self.add_weight(name="bias", shape=[units], initializer="zeros")
        self.shares = []
        for column in sorted(feature_columns, key=lambda column: column.name):
            if hasattr(column, "num_buckets"):  # a column of categories
                column = tf.feature_column.embedding_column(
                    column, units, combiner, tf.zeros_initializer()
                )
                share = tf_keras.layers.DenseFeatures(column)
            else:
                numbers = tf_keras.layers.DenseFeatures(column)
                sums = tf_keras.layers.Dense(units, None, False, "zeros")
                share = tf_keras.Sequential([numbers, sums])
            self.shares.append(share)

    def call(self, features: Any) -> Any:
        return tf.add_n([share(features) for share in self.shares]) + self.bias


class BaselineModel(tf_keras.Model):
    """Gives each example the same, zero at first."""

    def __init__(self, units: int = 1) -> None:
        super().__init__()
        self.bias = self.add_weight(name="bias", shape=[units], initializer="zeros")

    def call(self, features: Any) -> Any:
        count = tf.shape(tf.nest.flatten(features)[0])[0]
        return tf.tile([self.bias], [count, 1])
