"""``tensorflow.examples.tutorials.mnist``."""

from __future__ import annotations

from . import input_data

__all__ = ["input_data"]
