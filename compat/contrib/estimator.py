"""``tf.contrib.estimator``: heads, canned models and helpers of TF 1.x."""

from __future__ import annotations

from ..estimator.canned.v1 import (
    BaselineEstimator,
    DNNEstimator,
    DNNLinearCombinedEstimator,
    LinearEstimator,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
)
from ..estimator.heads.legacy import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from ..estimator.heads.legacy_multi import multi_head
from ..estimator.spec import call_logit_fn

__all__ = [
    "BaselineEstimator",
    "DNNEstimator",
    "DNNLinearCombinedEstimator",
    "LinearEstimator",
    "binary_classification_head",
    "call_logit_fn",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
]
