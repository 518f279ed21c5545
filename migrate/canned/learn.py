"""Networks of ``tf.contrib.learn`` as Keras models, by their variables' names.

They take the place of those that compat has, when the classes come along from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..compat.contrib import layers
from ..compat.contrib.learn.networks import summarize_layer
from ..runtime.scoped_layers import FunctionLayer, ScopedModel

__all__ = ["LearnDeepModel", "LearnWideModel", "learn_deep_logits", "learn_wide_logits"]


class LearnDeepModel(ScopedModel):
    """Hidden layers on the columns of tf.contrib.layers."""

    def __init__(
        self,
        columns: Sequence[Any],
        hidden_units: Sequence[int],
        units: int,
        activation: Callable[[Any], Any] | None,
        dropout_rate: float | None,
        partitioner: Any,
        joint: str,
    ) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.partitioner = partitioner
        self.joint = joint
        self.dropout_rate = dropout_rate
        self.hidden = [
            FunctionLayer(
                layers.fully_connected,
                size,
                activation_fn=activation,
                variables_collections=["dnn"],
                scope=f"hiddenlayer_{index}",
            )
            for index, size in enumerate(hidden_units)
        ]
        self.logits = FunctionLayer(
            layers.fully_connected,
            units,
            activation_fn=None,
            variables_collections=["dnn"],
            scope="logits",
        )

    def call(self, features: dict[str, Any]) -> Any:
        """The logits."""
        with tf.variable_scope(
            "input_from_feature_columns", partitioner=self.partitioner
        ) as scope:
            net = self.keep_weights(
                layers.input_from_feature_columns,
                features,
                self.columns,
                weight_collections=["dnn"],
                scope=scope,
            )
        for index, layer in enumerate(self.hidden):
            net = layer(net)
            if self.dropout_rate is not None:
                net = layers.dropout(net, keep_prob=1.0 - self.dropout_rate)
            summarize_layer(net, f"dnn/hiddenlayer_{index}", self.joint)
        net = self.logits(net)
        summarize_layer(net, "dnn/logits", self.joint)
        return net


class LearnWideModel(ScopedModel):
    """A weighted sum of the columns of tf.contrib.layers."""

    def __init__(self, columns: Sequence[Any], units: int) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.units = units

    def call(self, features: dict[str, Any]) -> Any:
        """The logits."""
        logits, _, _ = self.keep_weights(
            layers.weighted_sum_from_feature_columns,
            features,
            self.columns,
            num_outputs=self.units,
            weight_collections=["linear"],
            scope=tf.get_variable_scope(),
        )
        return logits


def learn_deep_logits(
    features: Any,
    columns: Sequence[Any],
    hidden_units: Sequence[int],
    dimension: int,
    *,
    activation_fn: Any,
    dropout_rate: float | None,
    partitioner: Any,
    joint: str,
) -> Any:
    """Layers over columns; the output of the last one."""
    model = LearnDeepModel(
        columns,
        hidden_units,
        dimension,
        activation_fn,
        dropout_rate,
        partitioner,
        joint,
    )
    return model(features)


def learn_wide_logits(features: Any, columns: Sequence[Any], dimension: int) -> Any:
    """A weighted sum of columns, in the scope of its network."""
    return LearnWideModel(columns, dimension)(features)
