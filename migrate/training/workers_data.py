"""Workers in step whose input functions are told which part they read."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from . import workers


class Worker(workers.Worker):
    """One of the workers that take each step together."""

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        if "input_context" in inspect.signature(input_fn).parameters:
            replicas = self.strategy.num_replicas_in_sync
            context = tf.distribute.InputContext(self.workers, self.index, replicas)
            input_fn = functools.partial(input_fn, input_context=context)
        return super()._dataset(input_fn, mode)
