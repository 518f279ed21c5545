"""Data sets that the demo, the fixtures and the tests use."""

from __future__ import annotations

from .bundled import bundled
from .fashion_mnist import make_keras_home

__all__ = ["bundled", "make_keras_home"]
