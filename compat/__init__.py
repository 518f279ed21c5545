"""tfmigrate.compat: the legacy Estimator runtime on today's TensorFlow.

``import tfmigrate.compat.v1 as tf`` gives a program the TF 1.15 namespace,
Estimators and ``tf.contrib`` included. Importing this package changes nothing
in TensorFlow itself. A program that keeps its own ``import tensorflow as tf``
calls ``tfmigrate.compat.install()`` first.
"""

from __future__ import annotations

from typing import Any

__all__ = ["install"]


def __getattr__(name: str) -> Any:
    # Loaded on demand: most users of the package never patch anything.
    if name == "install":
        from .launcher.here import install

        return install
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
