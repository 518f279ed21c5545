"""Wide-and-deep models: a linear model and a DNN, trained together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..mode_keys import ModeKeys
from . import columns as fc
from .dnn import dnn_logit_fn_builder, modern_dnn
from .layers import summarise_layer
from .linear import default_learning_rate, linear_logit_fn_builder, modern_linear
from .modern_training import train_op_of
from .optimizers import legacy_optimizer, modern_optimizer, read_early
from .partitioners import input_partitioner, variable_partitioner

__all__ = ["check_combined", "legacy_combined_model_fn", "modern_combined_model_fn"]

DNN_LEARNING_RATE = 0.001
LINEAR_LEARNING_RATE = 0.005


def check_columns(linear: Any, deep: Any, hidden_units: Any) -> None:
    """At least one side has columns, and a deep side has layers."""
    if not linear and not deep:
        raise ValueError(
            "Either linear_feature_columns or dnn_feature_columns must be defined."
        )
    if deep and not hidden_units:
        raise ValueError(
            "dnn_hidden_units must be defined when dnn_feature_columns is specified."
        )


def check_combined(given: Mapping[str, Any]) -> None:
    """At least one side has columns, when a model is made."""
    check_columns(given["linear_feature_columns"], given["dnn_feature_columns"], True)


def _check_optimizer(optimizer: Any) -> Any:
    if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, "
            "it is not supported in DNNLinearCombined model. If you want to use this "
            "optimizer, please use either DNN or Linear model."
        )
    return optimizer


def legacy_combined_model_fn(
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
    linear_columns = tuple(linear_feature_columns or ())
    deep_columns = tuple(dnn_feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        fc.check_features(features)
        check_columns(linear_columns, deep_columns, dnn_hidden_units)
        partitioner = input_layer_partitioner or input_partitioner(config)
        # Pairs of optimizer and the scope whose variables it trains.
        trained: list[tuple[Any, str]] = []
        logits = []
        if deep_columns:
            optimizer = _check_optimizer(
                legacy_optimizer(dnn_optimizer, learning_rate=DNN_LEARNING_RATE)
            )
            with tf.variable_scope(
                "dnn", partitioner=variable_partitioner(config)
            ) as scope:
                logit_fn = dnn_logit_fn_builder(
                    units=head.logits_dimension,
                    hidden_units=dnn_hidden_units or (),
                    feature_columns=deep_columns,
                    activation_fn=dnn_activation_fn,
                    dropout=dnn_dropout,
                    input_layer_partitioner=partitioner,
                    batch_norm=batch_norm,
                )
                logits.append(logit_fn(features, mode))
                trained.append((optimizer, scope.name))
        if linear_columns:
            rate = default_learning_rate(len(linear_columns), LINEAR_LEARNING_RATE)
            optimizer = _check_optimizer(
                legacy_optimizer(linear_optimizer, learning_rate=rate)
            )
            with tf.variable_scope("linear", partitioner=partitioner) as scope:
                linear_fn = linear_logit_fn_builder(
                    units=head.logits_dimension,
                    feature_columns=linear_columns,
                    sparse_combiner=linear_sparse_combiner,
                )
                logits.append(linear_fn(features))
                trained.append((optimizer, scope.name))
                summarise_layer(logits[-1], scope.name)

        def train_op_fn(loss: Any) -> Any:
            steps = [
                made.minimize(
                    loss,
                    var_list=tf.get_collection(
                        tf.GraphKeys.TRAINABLE_VARIABLES, scope=f"{scope}/"
                    ),
                )
                for made, scope in trained
            ]
            with tf.control_dependencies([tf.group(*steps)]):
                return tf.assign_add(tf.train.get_global_step(), 1).op

        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=train_op_fn,
            logits=tf.add(*logits) if len(logits) == 2 else logits[0],
        )

    return model_fn


def modern_combined_model_fn(
    head: Any,
    *,
    linear_feature_columns: Sequence[Any] | None,
    linear_optimizer: Any,
    dnn_feature_columns: Sequence[Any] | None,
    dnn_optimizer: Any,
    dnn_hidden_units: Sequence[int] | None,
    dnn_activation_fn: Callable[[Any], Any] | None,
    dnn_dropout: float | None,
    batch_norm: bool,
    linear_sparse_combiner: str,
) -> Callable[..., Any]:
    linear_columns = tuple(linear_feature_columns or ())
    deep_columns = tuple(dnn_feature_columns or ())
    linear_optimizer = read_early(linear_optimizer)
    dnn_optimizer = read_early(dnn_optimizer)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        fc.check_features(features)
        check_columns(linear_columns, deep_columns, dnn_hidden_units)
        logits: list[Any] = []
        groups: list[tuple[Any, Sequence[Any], Sequence[Any]]] = []
        training = mode == ModeKeys.TRAIN
        if deep_columns:
            deep = modern_dnn(
                features,
                mode,
                units=head.logits_dimension,
                hidden_units=dnn_hidden_units,
                feature_columns=deep_columns,
                activation_fn=dnn_activation_fn,
                dropout=dnn_dropout,
                batch_norm=batch_norm,
            )
            logits.append(deep.logits)
            if training:
                made = modern_optimizer(dnn_optimizer, learning_rate=DNN_LEARNING_RATE)
                groups.append((made, deep.variables, deep.updates))
        if linear_columns:
            linear = modern_linear(
                features,
                linear_columns,
                units=head.logits_dimension,
                sparse_combiner=linear_sparse_combiner,
            )
            summarise_layer(linear.logits, "linear")
            logits.append(linear.logits)
            if training:
                rate = default_learning_rate(len(linear_columns), LINEAR_LEARNING_RATE)
                made = modern_optimizer(linear_optimizer, learning_rate=rate)
                groups.append((made, linear.variables, ()))
        if training:
            # One of the two counts; the other keeps a counter of its own.
            groups[0][0].iterations = tf.train.get_or_create_global_step()
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=train_op_of(groups, loss_reduction=head.loss_reduction),
            logits=tf.add(*logits) if len(logits) == 2 else logits[0],
        )

    return model_fn
