"""Layers of canned models, by the names that their variables had in TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ..compat.estimator.canned.baseline import baseline_logits
from ..runtime.scoped_layers import ScopedModel

__all__ = ["BaselineModel", "DeepModel", "LinearModel", "summarise_layer"]


class DeepModel(ScopedModel):
    """Hidden layers on feature columns."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        hidden_units: Sequence[int],
        units: int,
        activation: Callable[[Any], Any] | None,
        dropout: float | None,
        batch_norm: bool,
        partitioner: Any,
    ) -> None:
        super().__init__()
        self.feature_columns = feature_columns
        self.partitioner = partitioner
        self.hidden = [
            tf_keras.layers.Dense(
                size, activation=activation, name=f"hiddenlayer_{index}"
            )
            for index, size in enumerate(hidden_units)
        ]
        self.dropout = tf_keras.layers.Dropout(dropout or 0.0)
        self.norms = [
            tf_keras.layers.BatchNormalization(
                momentum=0.999, name=f"batchnorm_{index}"
            )
            for index, _ in enumerate(hidden_units)
            if batch_norm
        ]
        self.logits = tf_keras.layers.Dense(units, name="logits")

    def call(self, features: dict[str, Any], training: bool) -> Any:
        """The logits."""
        with tf.variable_scope(
            "input_from_feature_columns", partitioner=self.partitioner
        ):
            net = self.make_input_layer(features, self.feature_columns)
        for index, layer in enumerate(self.hidden):
            net = self.dropout(layer(net), training=training)
            if self.norms:
                with tf.variable_scope(layer.name):
                    net = self.norms[index](net, training=training)
            summarise_layer(net, f"dnn/{layer.name}", "dnn/")
        net = self.logits(net)
        summarise_layer(net, "dnn/logits", "dnn/")
        return net


class LinearModel(ScopedModel):
    """A weight for each value of each column, added up, and a bias."""

    def __init__(
        self, feature_columns: Sequence[Any], units: int, sparse_combiner: str
    ) -> None:
        super().__init__()
        self.feature_columns = feature_columns
        self.units = units
        self.sparse_combiner = sparse_combiner

    def call(self, features: dict[str, Any]) -> Any:
        """The logits."""
        weights: dict[Any, Any] = {}
        logits = self.make_linear_model(
            features,
            self.feature_columns,
            units=self.units,
            sparse_combiner=self.sparse_combiner,
            cols_to_vars=weights,
        )
        (bias,) = weights.pop("bias")
        flat = [tf.reshape(one, [-1]) for one in tf.nest.flatten(weights.values())]
        with tf.name_scope("linear/"):
            if self.units > 1:
                tf.summary.histogram("bias", bias)
            else:
                tf.summary.scalar("bias", bias[0])
            zeros = tf.nn.zero_fraction(tf.concat(flat, axis=0))
            tf.summary.scalar("fraction_of_zero_weights", zeros)
        return logits


class BaselineModel(ScopedModel):
    """A bias for each logit, whatever the features are."""

    def __init__(self, units: int, weight_column: Any) -> None:
        super().__init__()
        self.units = units
        self.weight_column = weight_column

    def call(self, features: dict[str, Any]) -> Any:
        """The logits."""
        _, logits = baseline_logits(
            features,
            units=self.units,
            weight_column=self.weight_column,
            bias_of=self.make_bias,
        )
        return logits

    def make_bias(self, units: int) -> Any:
        """The only weights."""
        return self.get_variable("bias", [units], initializer=tf.zeros_initializer())


def summarise_layer(value: Any, name: str, scope: str) -> None:
    """How many values of a layer are zero, and all of them."""
    with tf.name_scope(scope):
        zeros = tf.nn.zero_fraction(value)
        tf.summary.scalar(f"{name}/fraction_of_zero_values", zeros)
        tf.summary.histogram(f"{name}/activation", value)
