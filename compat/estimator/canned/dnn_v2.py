"""DNN models of TF 2: ``tf.estimator.DNN*`` with Keras optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import EstimatorV2
from ..heads import modern as heads
from ..heads.base import MEAN_OVER_BATCH
from ..mode_keys import ModeKeys
from . import columns as fc
from .dnn import DnnParts, dnn_parts
from .modern_training import counting_optimizer
from .optimizers import read_early

__all__ = ["DNNClassifier", "DNNEstimator", "DNNRegressor", "modern_dnn"]

_OLD_COLUMN = (
    "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 "
    "Estimator. Please either use v2 feature columns (accessible via "
    "tf.feature_column.* in TF 2.x) with this Estimator, or switch to a v1 Estimator "
    "for use with v1 feature columns (accessible via tf.compat.v1.estimator.* and "
    "tf.compat.v1.feature_column.*, respectively."
)


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


def _model_fn(
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


class DNNClassifier(EstimatorV2):
    """A classifier of feature columns with hidden layers (TF 2)."""

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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
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
                batch_norm,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNRegressor(EstimatorV2):
    """A regressor of feature columns with hidden layers (TF 2)."""

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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        batch_norm: bool = False,
    ) -> None:
        head = heads.RegressionHead(
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
                batch_norm,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNEstimator(EstimatorV2):
    """Hidden layers on feature columns under any TF 2 head."""

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
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
                batch_norm,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )
