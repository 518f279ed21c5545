"""Wide-and-deep models of TF 1: a linear model and a DNN, trained together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import Estimator
from ..heads import legacy as heads
from . import columns as fc
from .dnn import dnn_logit_fn_builder
from .layers import summarise_layer
from .linear import default_learning_rate, linear_logit_fn_builder
from .optimizers import legacy_optimizer
from .partitioners import input_partitioner, variable_partitioner

__all__ = [
    "DNN_LEARNING_RATE",
    "LINEAR_LEARNING_RATE",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "check_columns",
]

DNN_LEARNING_RATE = 0.001
LINEAR_LEARNING_RATE = 0.005
SUM: str = tf.losses.Reduction.SUM


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


def _check_optimizer(optimizer: Any) -> Any:
    if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, "
            "it is not supported in DNNLinearCombined model. If you want to use this "
            "optimizer, please use either DNN or Linear model."
        )
    return optimizer


def _model_fn(
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


class DNNLinearCombinedClassifier(Estimator):
    """A wide-and-deep classifier (TF 1)."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        check_columns(linear_feature_columns, dnn_feature_columns, True)
        head = heads.binary_or_multi_class_head(
            n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(
                head,
                linear_feature_columns=linear_feature_columns,
                linear_optimizer=linear_optimizer,
                dnn_feature_columns=dnn_feature_columns,
                dnn_optimizer=dnn_optimizer,
                dnn_hidden_units=dnn_hidden_units,
                dnn_activation_fn=dnn_activation_fn,
                dnn_dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedRegressor(Estimator):
    """A wide-and-deep regressor (TF 1)."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        check_columns(linear_feature_columns, dnn_feature_columns, True)
        head = heads.regression_head(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(
                head,
                linear_feature_columns=linear_feature_columns,
                linear_optimizer=linear_optimizer,
                dnn_feature_columns=dnn_feature_columns,
                dnn_optimizer=dnn_optimizer,
                dnn_hidden_units=dnn_hidden_units,
                dnn_activation_fn=dnn_activation_fn,
                dnn_dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedEstimator(Estimator):
    """A wide-and-deep model under any TF 1 head."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        linear_sparse_combiner: str = "sum",
        batch_norm: bool = False,
        warm_start_from: Any = None,
    ) -> None:
        check_columns(linear_feature_columns, dnn_feature_columns, True)
        super().__init__(
            model_fn=_model_fn(
                head,
                linear_feature_columns=linear_feature_columns,
                linear_optimizer=linear_optimizer,
                dnn_feature_columns=dnn_feature_columns,
                dnn_optimizer=dnn_optimizer,
                dnn_hidden_units=dnn_hidden_units,
                dnn_activation_fn=dnn_activation_fn,
                dnn_dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )
