"""Canned classes and helpers of TF 1.15's ``tf.estimator``."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import Estimator
from ..heads import legacy as heads
from .baseline import legacy_baseline_model_fn
from .combined import check_combined, legacy_combined_model_fn
from .dnn import dnn_logit_fn_builder, legacy_dnn_model_fn
from .kmeans import KMeansClustering as KMeans
from .linear import legacy_linear_model_fn, linear_logit_fn_builder
from .made import class_maker
from .parsing import classifier_parse_example_spec, regressor_parse_example_spec
from .sdca import LinearSDCA, check_linear

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "KMeans",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LinearSDCA",
    "classifier_parse_example_spec",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
    "regressor_parse_example_spec",
]

_made = class_maker(
    __name__, Estimator, heads, heads.regression_head, tf.losses.Reduction.SUM
)

BaselineClassifier: Any = _made(
    "BaselineClassifier",
    "Predicts the class frequencies.",
    "model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, "
    "optimizer='Ftrl', config=None, loss_reduction=REDUCTION",
    legacy_baseline_model_fn,
    also=("weight_column",),
)
BaselineRegressor: Any = _made(
    "BaselineRegressor",
    "Predicts the mean label.",
    "model_dir=None, label_dimension=1, weight_column=None, optimizer='Ftrl', "
    "config=None, loss_reduction=REDUCTION",
    legacy_baseline_model_fn,
)
BaselineEstimator: Any = _made(
    "BaselineEstimator",
    "A bias under any head.",
    "head, model_dir=None, optimizer='Ftrl', config=None",
    legacy_baseline_model_fn,
)
DNNClassifier: Any = _made(
    "DNNClassifier",
    "A classifier of feature columns with hidden layers.",
    "hidden_units, feature_columns, model_dir=None, n_classes=2, "
    "weight_column=None, label_vocabulary=None, optimizer='Adagrad', "
    "activation_fn=relu, dropout=None, input_layer_partitioner=None, "
    "config=None, warm_start_from=None, loss_reduction=REDUCTION, "
    "batch_norm=False",
    legacy_dnn_model_fn,
)
DNNRegressor: Any = _made(
    "DNNRegressor",
    "A regressor of feature columns with hidden layers.",
    "hidden_units, feature_columns, model_dir=None, label_dimension=1, "
    "weight_column=None, optimizer='Adagrad', activation_fn=relu, "
    "dropout=None, input_layer_partitioner=None, config=None, "
    "warm_start_from=None, loss_reduction=REDUCTION, batch_norm=False",
    legacy_dnn_model_fn,
)
DNNEstimator: Any = _made(
    "DNNEstimator",
    "Hidden layers on feature columns under any head.",
    "head, hidden_units, feature_columns, model_dir=None, "
    "optimizer='Adagrad', activation_fn=relu, dropout=None, "
    "input_layer_partitioner=None, config=None, warm_start_from=None, "
    "batch_norm=False",
    legacy_dnn_model_fn,
)
DNNLinearCombinedClassifier: Any = _made(
    "DNNLinearCombinedClassifier",
    "A wide-and-deep classifier.",
    "model_dir=None, linear_feature_columns=None, linear_optimizer='Ftrl', "
    "dnn_feature_columns=None, dnn_optimizer='Adagrad', "
    "dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, "
    "n_classes=2, weight_column=None, label_vocabulary=None, "
    "input_layer_partitioner=None, config=None, warm_start_from=None, "
    "loss_reduction=REDUCTION, batch_norm=False, linear_sparse_combiner='sum'",
    legacy_combined_model_fn,
    check=check_combined,
)
DNNLinearCombinedRegressor: Any = _made(
    "DNNLinearCombinedRegressor",
    "A wide-and-deep regressor.",
    "model_dir=None, linear_feature_columns=None, linear_optimizer='Ftrl', "
    "dnn_feature_columns=None, dnn_optimizer='Adagrad', "
    "dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, "
    "label_dimension=1, weight_column=None, input_layer_partitioner=None, "
    "config=None, warm_start_from=None, loss_reduction=REDUCTION, "
    "batch_norm=False, linear_sparse_combiner='sum'",
    legacy_combined_model_fn,
    check=check_combined,
)
DNNLinearCombinedEstimator: Any = _made(
    "DNNLinearCombinedEstimator",
    "A wide-and-deep model under any head.",
    "head, model_dir=None, linear_feature_columns=None, "
    "linear_optimizer='Ftrl', dnn_feature_columns=None, "
    "dnn_optimizer='Adagrad', dnn_hidden_units=None, dnn_activation_fn=relu, "
    "dnn_dropout=None, input_layer_partitioner=None, config=None, "
    "linear_sparse_combiner='sum', batch_norm=False, warm_start_from=None",
    legacy_combined_model_fn,
    check=check_combined,
)
LinearClassifier: Any = _made(
    "LinearClassifier",
    "A linear classifier of feature columns.",
    "feature_columns, model_dir=None, n_classes=2, weight_column=None, "
    "label_vocabulary=None, optimizer='Ftrl', config=None, partitioner=None, "
    "warm_start_from=None, loss_reduction=REDUCTION, sparse_combiner='sum'",
    legacy_linear_model_fn,
    check=check_linear,
)
LinearRegressor: Any = _made(
    "LinearRegressor",
    "A linear regressor of feature columns.",
    "feature_columns, model_dir=None, label_dimension=1, weight_column=None, "
    "optimizer='Ftrl', config=None, partitioner=None, warm_start_from=None, "
    "loss_reduction=REDUCTION, sparse_combiner='sum'",
    legacy_linear_model_fn,
    check=check_linear,
)
LinearEstimator: Any = _made(
    "LinearEstimator",
    "A linear model of feature columns under any head.",
    "head, feature_columns, model_dir=None, optimizer='Ftrl', config=None, "
    "partitioner=None, sparse_combiner='sum', warm_start_from=None",
    legacy_linear_model_fn,
)
