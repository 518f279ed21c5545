"""Iterators inside input functions."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["make_one_shot_iterator"]


def make_one_shot_iterator(dataset: Any) -> Any:
    """The iterator of a graph over a data set; a loop of its own has another."""
    return tf.data.make_one_shot_iterator(dataset)
