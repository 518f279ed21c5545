"""``tf.contrib.learn.learn_runner``."""

from __future__ import annotations

from .experiment import run, tune

__all__ = ["run", "tune"]
