"""Canned classes and helpers of TF 2.15's ``tf.estimator``."""

from __future__ import annotations

from .baseline_v2 import BaselineClassifier, BaselineEstimator, BaselineRegressor
from .combined_v2 import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from .dnn_v2 import DNNClassifier, DNNEstimator, DNNRegressor
from .linear_v2 import LinearClassifier, LinearEstimator, LinearRegressor
from .parsing import classifier_parse_example_spec, regressor_parse_example_spec
from .rnn_v2 import RNNClassifier, RNNEstimator
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
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LinearSDCA",
    "RNNClassifier",
    "RNNEstimator",
    "classifier_parse_example_spec",
    "regressor_parse_example_spec",
]
