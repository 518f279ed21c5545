"""``tensorflow.examples.tutorials.mnist.input_data``."""

from __future__ import annotations

from ....contrib.learn.datasets.mnist import read_data_sets

__all__ = ["read_data_sets"]
