"""Predictions, for each example or each batch."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

import tensorflow as tf

from . import core, predictions
from .core import split


class Trainer(core.Trainer):
    """A trainer that predicts."""

    task: predictions.Task

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Container[str] | None = None,
        *,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields what is predicted for each example, as NumPy arrays."""
        dataset = self._dataset(input_fn, "infer")
        features = split(dataset.element_spec)[0]
        self._prepare(features)
        # One trace, so that what is drawn goes on from batch to batch.
        predict_step = self._predict_step.get_concrete_function(features)
        options = tf.data.Options()  # nothing is read ahead of what is predicted
        options.experimental_optimization.inject_prefetch = False
        for batch in dataset.with_options(options):
            answers = predict_step(split(batch)[0])
            if predict_keys:
                answers = {k: v for k, v in answers.items() if k in predict_keys}
            arrays = [tensor.numpy() for tensor in tf.nest.flatten(answers)]
            for row in zip(*arrays) if yield_single_examples else [arrays]:
                yield tf.nest.pack_sequence_as(answers, row)

    @tf.function
    def _predict_step(self, features: Any) -> Any:
        outputs = self.task.forward(features, training=False)
        return self.task.predictions(features, outputs)
