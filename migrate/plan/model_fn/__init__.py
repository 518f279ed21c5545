"""Programs of ``Estimator(model_fn)``."""

from __future__ import annotations
