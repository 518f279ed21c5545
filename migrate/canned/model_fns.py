"""Model functions of canned Estimators, around their Keras models.

They take the place of those that compat has, when the classes come along from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..compat.estimator.canned import baseline, combined
from ..compat.estimator.canned import columns as fc
from ..compat.estimator.canned.dnn import LEARNING_RATE
from ..compat.estimator.canned.linear import default_learning_rate
from ..compat.estimator.canned.optimizers import legacy_optimizer
from ..runtime.partitions import one_part
from .models import BaselineModel, DeepModel, LinearModel, summarise_layer

__all__ = [
    "baseline_model_fn",
    "combined_model_fn",
    "deep_model_fn",
    "linear_model_fn",
]


def deep_model_fn(
    head: Any,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any] | None,
    optimizer: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Any]:
    """Hidden layers; its optimizer may be a name."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        fc.check_features(features)
        with tf.variable_scope("dnn", partitioner=one_part()):
            model = DeepModel(
                tuple(feature_columns or ()),
                hidden_units,
                head.logits_dimension,
                activation_fn,
                dropout,
                batch_norm,
                input_layer_partitioner,
            )
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                logits=model(features, training=mode == "train"),
                optimizer=legacy_optimizer(optimizer, learning_rate=LEARNING_RATE),
            )

    return model_fn


def linear_model_fn(
    head: Any,
    feature_columns: Sequence[Any] | None,
    optimizer: Any,
    partitioner: Any,
    sparse_combiner: str,
) -> Callable[..., Any]:
    """A linear model; its optimizer may be a name, or None."""
    columns = tuple(feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        fc.check_features(features)
        with tf.variable_scope("linear", partitioner=partitioner or one_part()):
            model = LinearModel(columns, head.logits_dimension, sparse_combiner)
            rate = 0.2 if optimizer else default_learning_rate(len(columns))
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                logits=model(features),
                optimizer=legacy_optimizer(optimizer or "Ftrl", learning_rate=rate),
            )

    return model_fn


def combined_model_fn(
    head: Any,
    *,
    linear_feature_columns: Sequence[Any] | None,
    linear_optimizer: Any,
    dnn_feature_columns: Sequence[Any] | None,
    dnn_optimizer: Any,
    dnn_hidden_units: Sequence[int] | None,
    dnn_activation_fn: Callable[[Any], Any] | None,
    dnn_dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
    linear_sparse_combiner: str,
) -> Callable[..., Any]:
    """Both, each trained by an optimizer of its own."""
    wide = tuple(linear_feature_columns or ())
    deep = tuple(dnn_feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        fc.check_features(features)
        combined.check_columns(wide, deep, dnn_hidden_units)
        units = head.logits_dimension
        # Optimizers, and the scopes whose variables they train.
        trained: list[tuple[Any, str]] = []
        logits = []
        if deep:
            optimizer = legacy_optimizer(
                dnn_optimizer, learning_rate=combined.DNN_LEARNING_RATE
            )
            with tf.variable_scope("dnn") as scope:
                model = DeepModel(
                    deep,
                    dnn_hidden_units or (),
                    units,
                    dnn_activation_fn,
                    dnn_dropout,
                    batch_norm,
                    input_layer_partitioner,
                )
                logits.append(model(features, training=mode == "train"))
            trained.append((optimizer, scope.name))
        if wide:
            rate = default_learning_rate(len(wide), combined.LINEAR_LEARNING_RATE)
            optimizer = legacy_optimizer(linear_optimizer, learning_rate=rate)
            with tf.variable_scope(
                "linear", partitioner=input_layer_partitioner
            ) as scope:
                logits.append(
                    LinearModel(wide, units, linear_sparse_combiner)(features)
                )
            trained.append((optimizer, scope.name))
            summarise_layer(logits[-1], "linear", "linear/")

        def train_op_fn(loss: Any) -> Any:
            steps = [
                optimizer.minimize(
                    loss,
                    var_list=tf.get_collection(
                        tf.GraphKeys.TRAINABLE_VARIABLES, scope=f"{name}/"
                    ),
                )
                for optimizer, name in trained
            ]
            with tf.control_dependencies(steps):
                return tf.assign_add(tf.train.get_global_step(), 1).op

        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            logits=tf.add_n(logits),
            train_op_fn=train_op_fn,
        )

    return model_fn


def baseline_model_fn(
    head: Any, optimizer: Any, weight_column: Any = None
) -> Callable[..., Any]:
    """A bias."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        model = BaselineModel(head.logits_dimension, weight_column)

        def train_op_fn(loss: Any) -> Any:
            made = legacy_optimizer(optimizer, learning_rate=baseline.LEARNING_RATE)
            return made.minimize(loss, global_step=tf.train.get_global_step())

        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            logits=model(features),
            train_op_fn=train_op_fn,
        )

    return model_fn
