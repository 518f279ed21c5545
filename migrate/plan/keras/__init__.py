"""Programs of ``model_to_estimator``."""

from __future__ import annotations
