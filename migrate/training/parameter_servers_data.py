"""Workers of a chief whose input functions are told which part they read."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from . import parameter_servers


class Chief(parameter_servers.Chief):
    """Hands steps to workers, who may come and go, and saves."""

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        """Returns the data of the first worker; each reads its own."""

        def data_of(index: Any) -> Any:
            function, workers = input_fn, self.workers
            if "input_context" in inspect.signature(input_fn).parameters:
                context = tf.distribute.InputContext(workers, index, workers)
                function = functools.partial(input_fn, input_context=context)
            return super(Chief, self)._dataset(function, mode)

        self.data_of = data_of
        return data_of(0)
