"""The prediction run: one example after the other, as numpy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["filtered", "has_data_source", "single_examples"]


def filtered(predictions: Any, keys: Collection[str] | None) -> Any:
    """The wanted entries of a dict of predictions."""
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(
            "predict_keys argument is not valid in case of non-dict predictions."
        )
    wanted = {name: value for name, value in predictions.items() if name in keys}
    if not wanted:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, "
            f"provided {keys}."
        )
    return wanted


def single_examples(batch: Any) -> Iterator[Any]:
    """The examples of one evaluated batch."""
    if not isinstance(batch, Mapping):
        yield from batch
        return
    length: int | None = None
    for name, value in batch.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {name} has different "
                "batch length than others."
            )
    for index in range(length or 0):
        yield {name: value[index] for name, value in batch.items()}


def has_data_source(features: Any) -> bool:
    """Whether the features come from a dataset or a queue, and so can end."""
    tensors = tf.nest.flatten(features, expand_composites=True)
    if any(
        getattr(t, "op", None) is not None and t.op.type == "IteratorGetNext"
        for t in tensors
    ):
        return True
    return bool(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))
