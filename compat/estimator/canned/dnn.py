"""DNN models of both generations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from ..mode_keys import ModeKeys
from . import columns as fc
from .layers import Network, dense, hidden_layers, summarise_layer
from .modern_training import counting_optimizer
from .optimizers import legacy_optimizer, read_early
from .partitioners import input_partitioner, variable_partitioner

__all__ = [
    "DnnParts",
    "check_new_columns",
    "dnn_logit_fn_builder",
    "dnn_parts",
    "legacy_dnn_model_fn",
    "modern_dnn",
    "modern_dnn_model_fn",
]

LEARNING_RATE = 0.05
_OLD_COLUMN = (
    "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 "
    "Estimator. Please either use v2 feature columns (accessible via "
    "tf.feature_column.* in TF 2.x) with this Estimator, or switch to a v1 Estimator "
    "for use with v1 feature columns (accessible via tf.compat.v1.estimator.* and "
    "tf.compat.v1.feature_column.*, respectively."
)


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


def legacy_dnn_model_fn(
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


def check_new_columns(columns: Sequence[Any]) -> None:
    """TF 2 models do not take the older column classes."""
    if not fc.are_all_new(columns):
        raise ValueError(_OLD_COLUMN)


def modern_dnn(features: Any, mode: str, **options: Any) -> DnnParts:
    """A network under the scope ``dnn``.

    Its layers were Keras layers, whose variables are resource variables in TF 1's
    graphs too, and its summaries are called ``dnn/hiddenlayer_0/...``.
    """
    check_new_columns(options["feature_columns"])
    with tf.variable_scope("dnn", use_resource=True):
        return dnn_parts(features, mode, tag_of=_last_part, **options)


def _last_part(scope: Any) -> str:
    return str(scope.name).rpartition("/")[2]


def modern_dnn_model_fn(
    head: Any,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any] | None,
    optimizer: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    batch_norm: bool,
) -> Callable[..., Any]:
    found_columns = tuple(feature_columns or ())
    optimizer = read_early(optimizer)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        fc.check_features(features)
        parts = modern_dnn(
            features,
            mode,
            units=head.logits_dimension,
            hidden_units=hidden_units,
            feature_columns=found_columns,
            activation_fn=activation_fn,
            dropout=dropout,
            batch_norm=batch_norm,
        )
        made = counting_optimizer(optimizer) if mode == ModeKeys.TRAIN else None
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=made,
            logits=parts.logits,
            trainable_variables=parts.variables,
            update_ops=parts.updates,
        )

    return model_fn
