"""Heads: what turns logits into losses, metrics, predictions and signatures.

``legacy`` holds the TF 1 heads (functions of ``tf.contrib.estimator``, and
those inside TF 1 canned models), ``modern`` the public classes of TF 2. Both
share their mathematics in ``tasks``.
"""

from __future__ import annotations

from .base import Head
from .modern import (
    BinaryClassHead,
    LogisticRegressionHead,
    MultiClassHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
)
from .multi import MultiHead

__all__ = [
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
]
