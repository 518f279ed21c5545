"""Linear models of both generations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ..mode_keys import ModeKeys
from . import columns as fc
from .dnn import check_new_columns
from .modern_training import counting_optimizer
from .optimizers import legacy_optimizer, read_early
from .partitioners import input_partitioner
from .sdca import LinearSDCA, sdca_spec

__all__ = [
    "default_learning_rate",
    "legacy_linear_model_fn",
    "linear_logit_fn_builder",
    "modern_linear",
    "modern_linear_model_fn",
    "summarise_weights",
]

_LEARNING_RATE = 0.2


def default_learning_rate(n_columns: int, limit: float = _LEARNING_RATE) -> float:
    """The more columns, the smaller the step of each."""
    return min(limit, 1.0 / math.sqrt(n_columns))


def summarise_weights(bias: Any, weights: Iterable[Any], *, units: int) -> None:
    """The summaries of a linear model: its bias and its sparsity."""
    bias = tf.convert_to_tensor(bias)
    if units > 1:
        tf.summary.histogram("bias", bias)
    else:
        tf.summary.scalar("bias", bias[0])
    with tf.name_scope("zero_fraction"):
        flat = [tf.reshape(tf.convert_to_tensor(w), [-1]) for w in weights]
        fraction = tf.nn.zero_fraction(tf.concat(flat, axis=0)) if flat else 0.0
    tf.summary.scalar("fraction_of_zero_weights", fraction)


def linear_logit_fn_builder(
    units: int, feature_columns: Sequence[Any], sparse_combiner: str = "sum"
) -> Callable[..., Any]:
    """A function of features that gives the logits of a linear model."""

    def linear_logit_fn(features: dict[str, Any]) -> Any:
        if fc.are_all_new(feature_columns):
            parts = fc.linear_model(
                features, feature_columns, units=units, sparse_combiner=sparse_combiner
            )
            summarise_weights(parts.bias, parts.state.variables, units=units)
            return parts.logits
        by_column: dict[Any, Any] = {}
        logits = tf.feature_column.linear_model(
            features,
            feature_columns,
            units=units,
            sparse_combiner=sparse_combiner,
            cols_to_vars=by_column,
        )
        bias = by_column.pop("bias")
        flat = [w for found in by_column.values() for w in tf.nest.flatten(found)]
        summarise_weights(bias[0], flat, units=units)
        return logits

    return linear_logit_fn


def legacy_linear_model_fn(
    head: Any,
    feature_columns: Sequence[Any] | None,
    optimizer: Any,
    partitioner: Any,
    sparse_combiner: str,
) -> Callable[..., Any]:
    found_columns = tuple(feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        fc.check_features(features)
        scope = tf.variable_scope(
            "linear", partitioner=partitioner or input_partitioner(config)
        )
        with scope:
            if isinstance(optimizer, LinearSDCA):
                return sdca_spec(features, labels, mode, head, found_columns, optimizer)
            logit_fn = linear_logit_fn_builder(
                units=head.logits_dimension,
                feature_columns=found_columns,
                sparse_combiner=sparse_combiner,
            )
            logits = logit_fn(features)
            made = legacy_optimizer(
                optimizer or _legacy_default(found_columns),
                learning_rate=_LEARNING_RATE,
            )
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                optimizer=made,
                logits=logits,
            )

    return model_fn


def _legacy_default(columns: Sequence[Any]) -> Any:
    return tf.train.FtrlOptimizer(learning_rate=default_learning_rate(len(columns)))


def modern_linear(
    features: Any, columns: Sequence[Any], *, units: int, sparse_combiner: str
) -> fc.LinearParts:
    """A linear model under the scope ``linear``."""
    check_new_columns(columns)
    with tf.variable_scope("linear", use_resource=True):
        parts = fc.linear_model(
            features, columns, units=units, sparse_combiner=sparse_combiner
        )
    summarise_weights(parts.bias, parts.state.variables, units=units)
    return parts


def modern_linear_model_fn(
    head: Any,
    feature_columns: Sequence[Any] | None,
    optimizer: Any,
    sparse_combiner: str,
) -> Callable[..., Any]:
    found_columns = tuple(feature_columns or ())
    optimizer = read_early(optimizer)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        fc.check_features(features)
        if isinstance(optimizer, LinearSDCA):
            return sdca_spec(features, labels, mode, head, found_columns, optimizer)
        parts = modern_linear(
            features,
            found_columns,
            units=head.logits_dimension,
            sparse_combiner=sparse_combiner,
        )
        made = None
        if mode == ModeKeys.TRAIN:
            made = counting_optimizer(
                optimizer or _modern_default(found_columns),
                learning_rate=_LEARNING_RATE,
            )
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=made,
            trainable_variables=parts.variables,
            logits=parts.logits,
        )

    return model_fn


def _modern_default(columns: Sequence[Any]) -> Any:
    rate = default_learning_rate(len(columns))
    return tf_keras.optimizers.legacy.Ftrl(learning_rate=rate)
