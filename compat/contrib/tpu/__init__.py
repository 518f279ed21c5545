"""``tf.contrib.tpu``: the part that Estimator programs use off TPU."""

from __future__ import annotations

from ...estimator.tpu import (
    CrossShardOptimizer,
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
)
from .private import get_tpu_context as get_tpu_context

__all__ = [
    "CrossShardOptimizer",
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
]
