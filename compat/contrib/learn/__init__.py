"""``tf.contrib.learn``: what programs still use of it, on top of Estimators."""

from __future__ import annotations

from tensorflow.compat.v1.train import NanLossDuringTrainingError

from . import (
    datasets,
    io,
    learn_runner,
    models,
    monitors,
    ops,
    preprocessing,
    utils,
)
from .canned import (
    DNNClassifier,
    DNNEstimator,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
)
from .experiment import Experiment, RunConfig, TaskType
from .exports import (
    ExportStrategy,
    InputFnOps,
    build_parsing_serving_input_fn,
    make_export_strategy,
)
from .heads import Head, multi_class_head, no_op_train_fn, regression_head
from .inputs import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from .keys import PredictionKey, ProblemType
from .kmeans import KMeansClustering
from .metric_spec import MetricSpec
from .model_fns import Estimator, ModeKeys, ModelFnOps, SKCompat
from .reading import (
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
)
from .rnn import DynamicRnnEstimator
from .trainable import Evaluable, Trainable

__all__ = [
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "DynamicRnnEstimator",
    "Estimator",
    "Evaluable",
    "Experiment",
    "ExportStrategy",
    "Head",
    "InputFnOps",
    "KMeansClustering",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "TaskType",
    "Trainable",
    "build_parsing_serving_input_fn",
    "datasets",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "io",
    "learn_runner",
    "make_export_strategy",
    "models",
    "monitors",
    "multi_class_head",
    "no_op_train_fn",
    "ops",
    "preprocessing",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "regression_head",
    "utils",
]
