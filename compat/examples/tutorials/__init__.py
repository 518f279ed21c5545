"""``tensorflow.examples.tutorials``."""

from __future__ import annotations
