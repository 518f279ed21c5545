"""Predictions, for each example or each batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from . import core
from .core import split


class Task(core.Task):
    """A task that predicts."""

    def predictions(self, features: Any, outputs: Any) -> Any:
        """Returns what is predicted for a batch: a dict by name, or one tensor."""
        return {"output": outputs}


class Trainer(core.Trainer):
    """A trainer that predicts."""

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Iterable[str] | None = None,
        *,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields what is predicted for each example, as NumPy arrays."""
        dataset = self._dataset(input_fn, "infer")
        self._prepare(dataset.element_spec, checkpoint_path)
        # Nothing is read ahead: data may depend on what has been predicted.
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        for batch in dataset.with_options(options):
            predictions = self._predict_step(split(batch)[0])
            if predict_keys:
                items = predictions.items()
                predictions = {k: value for k, value in items if k in predict_keys}
            arrays = [tensor.numpy() for tensor in tf.nest.flatten(predictions)]
            for row in zip(*arrays) if yield_single_examples else [arrays]:
                yield tf.nest.pack_sequence_as(predictions, row)

    @tf.function
    def _predict_step(self, features: Any) -> Any:
        outputs = self.task.forward(features, training=False)
        return self.task.predictions(features, outputs)
