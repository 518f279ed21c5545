"""Canned classes and helpers of TF 1.15's ``tf.estimator``."""

from __future__ import annotations

from .baseline import BaselineClassifier, BaselineEstimator, BaselineRegressor
from .combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from .dnn import DNNClassifier, DNNEstimator, DNNRegressor, dnn_logit_fn_builder
from .kmeans import KMeansClustering as KMeans
from .linear import (
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
    linear_logit_fn_builder,
)
from .parsing import classifier_parse_example_spec, regressor_parse_example_spec
from .sdca import LinearSDCA

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
