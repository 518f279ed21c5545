"""The models that ``tf.contrib.learn`` brought: linear, DNN, and both together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from .heads import Head, multi_class_head, regression_head
from .networks import Deep, Wide
from .predicting import CannedEstimator, Classifier, Regressor

__all__ = [
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
]


def _deep(
    columns: Any,
    hidden_units: Any,
    optimizer: Any,
    activation_fn: Any,
    dropout: float | None,
    clip_norm: float | None,
    unsupported: Mapping[str, Any],
) -> Deep | None:
    for name, value in unsupported.items():
        if value:
            raise ValueError(f"{name} is not supported.")
    if not columns:
        return None
    if not hidden_units:
        raise ValueError("hidden_units must be given with columns of a DNN.")
    return Deep(
        columns,
        hidden_units,
        optimizer=optimizer,
        activation_fn=activation_fn,
        dropout=dropout,
        clip_norm=clip_norm,
    )


class DNNClassifier(Classifier):
    """A fully connected network over feature columns that chooses a class."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Any = None,
    ) -> None:
        del input_layer_min_slice_size  # how parameter servers shared a variable
        super().__init__(
            multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            _deep(
                feature_columns,
                hidden_units,
                optimizer,
                activation_fn,
                dropout,
                gradient_clip_norm,
                {"embedding_lr_multipliers": embedding_lr_multipliers},
            ),
            None,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class DNNRegressor(Regressor):
    """A fully connected network over feature columns that gives numbers."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        del input_layer_min_slice_size
        super().__init__(
            regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            _deep(
                feature_columns,
                hidden_units,
                optimizer,
                activation_fn,
                dropout,
                gradient_clip_norm,
                {"embedding_lr_multipliers": embedding_lr_multipliers},
            ),
            None,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class DNNEstimator(CannedEstimator):
    """A fully connected network under a head of one's own."""

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        del input_layer_min_slice_size
        super().__init__(
            head,
            _deep(
                feature_columns,
                hidden_units,
                optimizer,
                activation_fn,
                dropout,
                gradient_clip_norm,
                {"embedding_lr_multipliers": embedding_lr_multipliers},
            ),
            None,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class LinearClassifier(Classifier):
    """A weighted sum of feature columns that chooses a class."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:
        _not_joint(_joint_weight)
        super().__init__(
            multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            None,
            Wide(feature_columns, optimizer=optimizer, clip_norm=gradient_clip_norm),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class LinearRegressor(Regressor):
    """A weighted sum of feature columns."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        _not_joint(_joint_weights)
        super().__init__(
            regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            None,
            Wide(feature_columns, optimizer=optimizer, clip_norm=gradient_clip_norm),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class LinearEstimator(CannedEstimator):
    """A weighted sum of feature columns under a head of one's own."""

    def __init__(
        self,
        feature_columns: Any,
        head: Head,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        del weight_column_name  # the head knows it
        _not_joint(_joint_weights)
        super().__init__(
            head,
            None,
            Wide(feature_columns, optimizer=optimizer, clip_norm=gradient_clip_norm),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


def _not_joint(joint: bool) -> None:
    if joint:
        raise ValueError(
            "One variable for all columns (joint weights) is not supported."
        )


class _Combined(CannedEstimator):
    """Both networks; their outputs are added."""

    def __init__(
        self,
        head: Head,
        *,
        linear_feature_columns: Any,
        linear_optimizer: Any,
        dnn_feature_columns: Any,
        dnn_optimizer: Any,
        dnn_hidden_units: Any,
        dnn_activation_fn: Any,
        dnn_dropout: float | None,
        gradient_clip_norm: float | None,
        joint: bool,
        embedding_lr_multipliers: Any,
        counts_once: bool,
        **options: Any,
    ) -> None:
        _not_joint(joint)
        wide = None
        if linear_feature_columns:
            wide = Wide(
                linear_feature_columns,
                optimizer=linear_optimizer,
                clip_norm=gradient_clip_norm,
            )
        deep = _deep(
            dnn_feature_columns,
            dnn_hidden_units,
            dnn_optimizer,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            {"embedding_lr_multipliers": embedding_lr_multipliers},
        )
        if wide is None and deep is None:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        super().__init__(head, deep, wide, counts_twice=not counts_once, **options)


class DNNLinearCombinedClassifier(_Combined, Classifier):
    """Both networks together, choosing a class."""

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Any = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        del input_layer_min_slice_size
        super().__init__(
            multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            gradient_clip_norm=gradient_clip_norm,
            joint=_joint_linear_weights,
            embedding_lr_multipliers=embedding_lr_multipliers,
            counts_once=fix_global_step_increment_bug,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class DNNLinearCombinedRegressor(_Combined, Regressor):
    """Both networks together, giving numbers."""

    def __init__(
        self,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        del input_layer_min_slice_size
        super().__init__(
            regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            gradient_clip_norm=gradient_clip_norm,
            joint=_joint_linear_weights,
            embedding_lr_multipliers=embedding_lr_multipliers,
            counts_once=fix_global_step_increment_bug,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class DNNLinearCombinedEstimator(_Combined):
    """Both networks together under a head of one's own."""

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ) -> None:
        del input_layer_partitioner
        super().__init__(
            head,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn or tf.nn.relu,
            dnn_dropout=dnn_dropout,
            gradient_clip_norm=gradient_clip_norm,
            joint=_joint_linear_weights,
            embedding_lr_multipliers=embedding_lr_multipliers,
            counts_once=fix_global_step_increment_bug,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
