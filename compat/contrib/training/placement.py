"""Which parameter server holds which variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class RandomStrategy:
    """A random parameter server, from a seed."""

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._rng = np.random.RandomState(seed)

    def __call__(self, op: Any) -> int:
        return int(self._rng.randint(0, self._num_tasks))


class GreedyLoadBalancingStrategy:
    """The parameter server with the least load so far."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._load_fn = load_fn
        self._loads = np.zeros(num_tasks)

    def __call__(self, op: Any) -> int:
        task = int(np.argmin(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> float:
    """The bytes that a variable takes."""
    dtype = tf.as_dtype(op.get_attr("dtype"))
    shape = tf.TensorShape(op.get_attr("shape"))
    return float(dtype.size * (shape.num_elements() or 0))
