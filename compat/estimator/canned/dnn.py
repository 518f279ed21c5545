"""DNN models: logits for both generations, and the canned classes of TF 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from ..estimator import Estimator
from ..heads import legacy as heads
from . import columns as fc
from .layers import Network, dense, hidden_layers, summarise_layer
from .optimizers import legacy_optimizer
from .partitioners import input_partitioner, variable_partitioner

__all__ = [
    "DNNClassifier",
    "DNNEstimator",
    "DNNRegressor",
    "DnnParts",
    "dnn_logit_fn_builder",
    "dnn_parts",
]

LEARNING_RATE = 0.05
SUM: str = tf.losses.Reduction.SUM


class DnnParts(NamedTuple):
    """Logits of a DNN, its trained variables and its batch-norm updates."""

    logits: Any
    variables: list[Any]
    updates: list[Any]


def dnn_parts(
    features: dict[str, Any],
    mode: str,
    *,
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    batch_norm: bool,
    input_layer_partitioner: Any = None,
    tag_of: Callable[[Any], str] = lambda scope: str(scope.name),
) -> DnnParts:
    """Builds the network in the current variable scope.

    `tag_of` gives the summary tag of a layer from its variable scope.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")
    network = Network()
    with tf.variable_scope(
        "input_from_feature_columns", partitioner=input_layer_partitioner
    ):
        if fc.are_all_new(feature_columns):
            net, variables = fc.dense_input(features, feature_columns)
        else:
            net, variables = fc.legacy_dense_input(features, feature_columns)
        network.variables.extend(variables)
    net = hidden_layers(
        network,
        net,
        hidden_units=hidden_units,
        activation=activation_fn,
        dropout=dropout,
        batch_norm=batch_norm,
        mode=mode,
        tag_of=tag_of,
    )
    with tf.variable_scope("logits") as scope:
        logits = dense(network, net, units)
    summarise_layer(logits, tag_of(scope))
    return DnnParts(logits, network.variables, network.updates)


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Any]:
    """A function of (features, mode) that gives the logits of a DNN."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: dict[str, Any], mode: str) -> Any:
        parts = dnn_parts(
            features,
            mode,
            units=units,
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            activation_fn=activation_fn,
            dropout=dropout,
            batch_norm=batch_norm,
            input_layer_partitioner=input_layer_partitioner,
        )
        for update in parts.updates:
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
        return parts.logits

    return dnn_logit_fn


def _model_fn(
    head: Any,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any] | None,
    optimizer: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Any]:
    found_columns = tuple(feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        made = legacy_optimizer(optimizer, learning_rate=LEARNING_RATE)
        fc.check_features(features)
        # Training happens inside the scope: TF 1 checkpoints carry slot names
        # that come out like this only.
        with tf.variable_scope("dnn", partitioner=variable_partitioner(config)):
            logit_fn = dnn_logit_fn_builder(
                units=head.logits_dimension,
                hidden_units=hidden_units,
                feature_columns=found_columns,
                activation_fn=activation_fn,
                dropout=dropout,
                input_layer_partitioner=input_layer_partitioner
                or input_partitioner(config),
                batch_norm=batch_norm,
            )
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                optimizer=made,
                logits=logit_fn(features, mode),
            )

    return model_fn


class DNNClassifier(Estimator):
    """A classifier of feature columns with hidden layers (TF 1)."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
    ) -> None:
        head = heads.binary_or_multi_class_head(
            n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(
                head,
                hidden_units,
                feature_columns,
                optimizer,
                activation_fn,
                dropout,
                input_layer_partitioner,
                batch_norm,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNRegressor(Estimator):
    """A regressor of feature columns with hidden layers (TF 1)."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
    ) -> None:
        head = heads.regression_head(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(
                head,
                hidden_units,
                feature_columns,
                optimizer,
                activation_fn,
                dropout,
                input_layer_partitioner,
                batch_norm,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNEstimator(Estimator):
    """Hidden layers on feature columns under any TF 1 head."""

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            model_fn=_model_fn(
                head,
                hidden_units,
                feature_columns,
                optimizer,
                activation_fn,
                dropout,
                input_layer_partitioner,
                batch_norm,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )
