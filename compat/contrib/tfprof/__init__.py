"""``tf.contrib.tfprof``: what a graph holds, and what its operations cost."""

from __future__ import annotations

from . import model_analyzer, tfprof_logger

__all__ = ["model_analyzer", "tfprof_logger"]
