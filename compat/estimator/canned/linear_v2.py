"""Linear models of TF 2: ``tf.estimator.Linear*`` with Keras optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ..estimator import EstimatorV2
from ..heads import modern as heads
from ..heads.base import MEAN_OVER_BATCH
from ..mode_keys import ModeKeys
from . import columns as fc
from .dnn_v2 import check_new_columns
from .linear import default_learning_rate, summarise_weights
from .modern_training import counting_optimizer
from .optimizers import read_early
from .sdca import LinearSDCA, check_sdca, sdca_spec

__all__ = ["LinearClassifier", "LinearEstimator", "LinearRegressor", "modern_linear"]

LEARNING_RATE = 0.2


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


def _model_fn(
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
                optimizer or _default_optimizer(found_columns),
                learning_rate=LEARNING_RATE,
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


def _default_optimizer(columns: Sequence[Any]) -> Any:
    rate = default_learning_rate(len(columns))
    return tf_keras.optimizers.legacy.Ftrl(learning_rate=rate)


class LinearClassifier(EstimatorV2):
    """A linear classifier of feature columns (TF 2)."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
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
            model_fn=_model_fn(head, feature_columns, optimizer, sparse_combiner),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class LinearRegressor(EstimatorV2):
    """A linear regressor of feature columns (TF 2)."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        sparse_combiner: str = "sum",
    ) -> None:
        check_sdca(
            optimizer,
            feature_columns,
            sparse_combiner,
            label_dimension=label_dimension,
        )
        head = heads.RegressionHead(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(head, feature_columns, optimizer, sparse_combiner),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class LinearEstimator(EstimatorV2):
    """A linear model of feature columns under any TF 2 head."""

    def __init__(
        self,
        head: Any,
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ) -> None:
        super().__init__(
            model_fn=_model_fn(head, feature_columns, optimizer, sparse_combiner),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )
