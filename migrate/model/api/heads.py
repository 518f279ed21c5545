"""Heads: they make loss and specification, and have no variables of their own."""

from __future__ import annotations

from ..values import Symbol, Value
from . import Call, handles

_CONTRIB = (
    "binary_classification_head", "logistic_regression_head", "multi_class_head",
    "multi_head", "multi_label_head", "poisson_regression_head", "regression_head",
)  # fmt: skip
_CORE = (
    "BinaryClassHead", "LogisticRegressionHead", "MultiClassHead", "MultiHead",
    "MultiLabelHead", "PoissonRegressionHead", "RegressionHead",
)  # fmt: skip


@handles(
    *(f"tf.contrib.estimator.{name}" for name in _CONTRIB),
    *(f"tf.estimator.{name}" for name in _CORE),
    *(f"tf.estimator.experimental.{name}" for name in _CORE),
)
def head(call: Call) -> Value:
    """An object whose sizes are known, and whose methods are told by their names."""
    return Symbol(f"{call.symbol}()")
