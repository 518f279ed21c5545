"""Input functions that take arguments, or return tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from . import core


class Trainer(core.Trainer):
    """A trainer that calls them as they ask to be."""

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        """Returns the batches of an input function; tensors are one, time and again."""
        known = {"mode": mode, "params": self.params, "config": self.config}
        wanted = known.keys() & inspect.signature(input_fn).parameters
        data = input_fn(**{name: known[name] for name in wanted})
        if isinstance(data, tf.data.Dataset):
            return data
        return tf.data.Dataset.from_tensors(data).repeat()
