"""``tf.estimator.tpu``: TPUEstimator and its configuration, off TPU."""

from __future__ import annotations

from .config import InputPipelineConfig, RunConfig, TPUConfig
from .estimator import TPUEstimator
from .optimizer import CrossShardOptimizer
from .spec import TPUEstimatorSpec

__all__ = [
    "CrossShardOptimizer",
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
]
