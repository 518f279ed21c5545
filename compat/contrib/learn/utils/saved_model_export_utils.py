"""``tf.contrib.learn.utils.saved_model_export_utils``: exports of experiments."""

from __future__ import annotations

from ..exports import make_export_strategy

__all__ = ["make_export_strategy"]
