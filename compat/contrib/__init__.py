"""The part of ``tf.contrib`` that Estimator programs use."""

from __future__ import annotations
