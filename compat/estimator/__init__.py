"""The public ``tf.estimator`` surface."""

from __future__ import annotations
