"""The models that ``tf.contrib.learn`` brought: linear, DNN, and both together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from ...estimator.canned.made import class_of_signature
from .heads import multi_class_head, regression_head
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

# Options of which nothing but their defaults is supported.
_REFUSED = {
    "_joint_linear_weights": "One variable for all columns (joint weights)",
    "_joint_weight": "One variable for all columns (joint weights)",
    "_joint_weights": "One variable for all columns (joint weights)",
    "embedding_lr_multipliers": "embedding_lr_multipliers",
}
_OF_RUNS = ("model_dir", "config", "feature_engineering_fn")


def _head(given: Mapping[str, Any]) -> Any:
    if "head" in given:
        return given["head"]
    make = multi_class_head if "n_classes" in given else regression_head
    taken = ("n_classes", "label_keys", "label_dimension", "weight_column_name")
    return make(
        **{key: given[key] for key in taken if key in given},
        enable_centered_bias=given["enable_centered_bias"],
    )


def _deep(given: Mapping[str, Any], prefix: str = "") -> Deep | None:
    columns = given[f"{prefix}feature_columns"]
    if not columns:
        return None
    hidden_units = given[f"{prefix}hidden_units"]
    if not hidden_units:
        raise ValueError("hidden_units must be given with columns of a DNN.")
    activation_fn = given[f"{prefix}activation_fn"]
    if activation_fn is None and prefix:
        activation_fn = tf.nn.relu  # as a DNN alone does not read None
    return Deep(
        columns,
        hidden_units,
        optimizer=given[f"{prefix}optimizer"],
        activation_fn=activation_fn,
        dropout=given[f"{prefix}dropout"],
        clip_norm=given["gradient_clip_norm"],
    )


def _wide(given: Mapping[str, Any], prefix: str = "") -> Wide | None:
    columns = given[f"{prefix}feature_columns"]
    if prefix and not columns:
        return None
    return Wide(
        columns,
        optimizer=given[f"{prefix}optimizer"],
        clip_norm=given["gradient_clip_norm"],
    )


def _prepared(given: dict[str, Any]) -> dict[str, Any]:
    for key, what in _REFUSED.items():
        if given.get(key):
            raise ValueError(f"{what} is not supported.")
    made: dict[str, Any] = {key: given[key] for key in _OF_RUNS}
    made["head"] = _head(given)
    if "linear_feature_columns" in given:
        made["wide"] = _wide(given, "linear_")
        made["deep"] = _deep(given, "dnn_")
        if made["wide"] is None and made["deep"] is None:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        made["counts_twice"] = not given["fix_global_step_increment_bug"]
    else:
        deep = "hidden_units" in given
        made["deep"] = _deep(given) if deep else None
        made["wide"] = None if deep else _wide(given)
    return made


def _made(name: str, base: type, doc: str, parameters: str) -> Any:
    return class_of_signature(
        name,
        __name__,
        base,
        doc,
        parameters,
        known={"relu": tf.nn.relu},
        prepare=_prepared,
    )


DNNClassifier: Any = _made(
    "DNNClassifier",
    Classifier,
    "A fully connected network over feature columns that chooses a class.",
    "hidden_units, feature_columns, model_dir=None, n_classes=2, "
    "weight_column_name=None, optimizer=None, activation_fn=relu, "
    "dropout=None, gradient_clip_norm=None, enable_centered_bias=False, "
    "config=None, feature_engineering_fn=None, embedding_lr_multipliers=None, "
    "input_layer_min_slice_size=None, label_keys=None",
)
DNNRegressor: Any = _made(
    "DNNRegressor",
    Regressor,
    "A fully connected network over feature columns that gives numbers.",
    "hidden_units, feature_columns, model_dir=None, weight_column_name=None, "
    "optimizer=None, activation_fn=relu, dropout=None, "
    "gradient_clip_norm=None, enable_centered_bias=False, config=None, "
    "feature_engineering_fn=None, label_dimension=1, "
    "embedding_lr_multipliers=None, input_layer_min_slice_size=None",
)
DNNEstimator: Any = _made(
    "DNNEstimator",
    CannedEstimator,
    "A fully connected network under a head of one's own.",
    "head, hidden_units, feature_columns, model_dir=None, optimizer=None, "
    "activation_fn=relu, dropout=None, gradient_clip_norm=None, config=None, "
    "feature_engineering_fn=None, embedding_lr_multipliers=None, "
    "input_layer_min_slice_size=None",
)
LinearClassifier: Any = _made(
    "LinearClassifier",
    Classifier,
    "A weighted sum of feature columns that chooses a class.",
    "feature_columns, model_dir=None, n_classes=2, weight_column_name=None, "
    "optimizer=None, gradient_clip_norm=None, enable_centered_bias=False, "
    "_joint_weight=False, config=None, feature_engineering_fn=None, "
    "label_keys=None",
)
LinearRegressor: Any = _made(
    "LinearRegressor",
    Regressor,
    "A weighted sum of feature columns.",
    "feature_columns, model_dir=None, weight_column_name=None, "
    "optimizer=None, gradient_clip_norm=None, enable_centered_bias=False, "
    "label_dimension=1, _joint_weights=False, config=None, "
    "feature_engineering_fn=None",
)
LinearEstimator: Any = _made(
    "LinearEstimator",
    CannedEstimator,
    "A weighted sum of feature columns under a head of one's own.",
    "feature_columns, head, model_dir=None, weight_column_name=None, "
    "optimizer=None, gradient_clip_norm=None, _joint_weights=False, "
    "config=None, feature_engineering_fn=None",
)
DNNLinearCombinedClassifier: Any = _made(
    "DNNLinearCombinedClassifier",
    Classifier,
    "Both networks together, choosing a class.",
    "model_dir=None, n_classes=2, weight_column_name=None, "
    "linear_feature_columns=None, linear_optimizer=None, "
    "_joint_linear_weights=False, dnn_feature_columns=None, "
    "dnn_optimizer=None, dnn_hidden_units=None, dnn_activation_fn=relu, "
    "dnn_dropout=None, gradient_clip_norm=None, enable_centered_bias=False, "
    "config=None, feature_engineering_fn=None, embedding_lr_multipliers=None, "
    "input_layer_min_slice_size=None, label_keys=None, "
    "fix_global_step_increment_bug=False",
)
DNNLinearCombinedRegressor: Any = _made(
    "DNNLinearCombinedRegressor",
    Regressor,
    "Both networks together, giving numbers.",
    "model_dir=None, weight_column_name=None, linear_feature_columns=None, "
    "linear_optimizer=None, _joint_linear_weights=False, "
    "dnn_feature_columns=None, dnn_optimizer=None, dnn_hidden_units=None, "
    "dnn_activation_fn=relu, dnn_dropout=None, gradient_clip_norm=None, "
    "enable_centered_bias=False, label_dimension=1, config=None, "
    "feature_engineering_fn=None, embedding_lr_multipliers=None, "
    "input_layer_min_slice_size=None, fix_global_step_increment_bug=False",
)
DNNLinearCombinedEstimator: Any = _made(
    "DNNLinearCombinedEstimator",
    CannedEstimator,
    "Both networks together under a head of one's own.",
    "head, model_dir=None, linear_feature_columns=None, "
    "linear_optimizer=None, _joint_linear_weights=False, "
    "dnn_feature_columns=None, dnn_optimizer=None, dnn_hidden_units=None, "
    "dnn_activation_fn=None, dnn_dropout=None, gradient_clip_norm=None, "
    "config=None, feature_engineering_fn=None, embedding_lr_multipliers=None, "
    "fix_global_step_increment_bug=False, input_layer_partitioner=None",
)
