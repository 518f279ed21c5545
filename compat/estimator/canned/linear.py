"""Linear models: logits for both generations, and the canned classes of TF 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import Estimator
from ..heads import legacy as heads
from . import columns as fc
from .optimizers import legacy_optimizer
from .partitioners import input_partitioner
from .sdca import LinearSDCA, check_sdca, sdca_spec

__all__ = [
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "default_learning_rate",
    "linear_logit_fn_builder",
    "summarise_weights",
]

SUM: str = tf.losses.Reduction.SUM


def default_learning_rate(n_columns: int, limit: float = 0.2) -> float:
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


def _model_fn(
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
                optimizer or _default_optimizer(found_columns), learning_rate=0.2
            )
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                optimizer=made,
                logits=logits,
            )

    return model_fn


def _default_optimizer(columns: Sequence[Any]) -> Any:
    return tf.train.FtrlOptimizer(learning_rate=default_learning_rate(len(columns)))


class LinearClassifier(Estimator):
    """A linear classifier of feature columns (TF 1)."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        check_sdca(optimizer, feature_columns, sparse_combiner, n_classes=n_classes)
        head = heads.binary_or_multi_class_head(
            n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(
                head, feature_columns, optimizer, partitioner, sparse_combiner
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class LinearRegressor(Estimator):
    """A linear regressor of feature columns (TF 1)."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        check_sdca(
            optimizer,
            feature_columns,
            sparse_combiner,
            label_dimension=label_dimension,
        )
        head = heads.regression_head(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(
                head, feature_columns, optimizer, partitioner, sparse_combiner
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class LinearEstimator(Estimator):
    """A linear model of feature columns under any TF 1 head."""

    def __init__(
        self,
        head: Any,
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ) -> None:
        super().__init__(
            model_fn=_model_fn(
                head, feature_columns, optimizer, partitioner, sparse_combiner
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )
