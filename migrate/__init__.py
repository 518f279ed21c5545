"""tfmigrate: run, rewrite and verify Estimator-era TensorFlow programs."""

from __future__ import annotations

__version__ = "0.1.0"
