"""Predictions of any checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

import tensorflow as tf

from . import predict
from .core import split


class Trainer(predict.Trainer):
    """A trainer that predicts with a checkpoint of one's choice."""

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Container[str] | None = None,
        *,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields what is predicted for each example, as NumPy arrays."""
        dataset = self._dataset(input_fn, "infer")
        self._prepare(split(dataset.element_spec)[0], checkpoint_path)
        options = tf.data.Options()  # nothing is read ahead of what is predicted
        options.experimental_optimization.inject_prefetch = False
        for batch in dataset.with_options(options):
            answers = self._predict_step(split(batch)[0])
            if predict_keys:
                answers = {k: v for k, v in answers.items() if k in predict_keys}
            arrays = [tensor.numpy() for tensor in tf.nest.flatten(answers)]
            for row in zip(*arrays) if yield_single_examples else [arrays]:
                yield tf.nest.pack_sequence_as(answers, row)
