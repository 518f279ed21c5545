"""Wide-and-deep models of TF 2: ``tf.estimator.DNNLinearCombined*``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import EstimatorV2
from ..heads import modern as heads
from ..heads.base import MEAN_OVER_BATCH
from ..mode_keys import ModeKeys
from . import columns as fc
from .combined import DNN_LEARNING_RATE, LINEAR_LEARNING_RATE, check_columns
from .dnn_v2 import modern_dnn
from .layers import summarise_layer
from .linear import default_learning_rate
from .linear_v2 import modern_linear
from .modern_training import train_op_of
from .optimizers import modern_optimizer, read_early

__all__ = [
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
]


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
    batch_norm: bool,
    linear_sparse_combiner: str,
    loss_reduction: Any,
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
            train_op_fn=train_op_of(groups, loss_reduction=loss_reduction),
            logits=tf.add(*logits) if len(logits) == 2 else logits[0],
        )

    return model_fn


class DNNLinearCombinedClassifier(EstimatorV2):
    """A wide-and-deep classifier (TF 2)."""

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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
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
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
                loss_reduction=loss_reduction,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedRegressor(EstimatorV2):
    """A wide-and-deep regressor (TF 2)."""

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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        check_columns(linear_feature_columns, dnn_feature_columns, True)
        head = heads.RegressionHead(
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
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
                loss_reduction=loss_reduction,
            ),
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedEstimator(EstimatorV2):
    """A wide-and-deep model under any TF 2 head."""

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
        config: Any = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
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
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
                # The reduction of the head is what its loss was made with.
                loss_reduction=head.loss_reduction,
            ),
            model_dir=model_dir,
            config=config,
        )
