"""The prediction run: one example after the other, as numpy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["batch_length", "filtered", "has_data_source"]


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


def batch_length(batch: Mapping[str, Any]) -> int:
    """How many examples an evaluated batch has."""
    length: int | None = None
    for name, value in batch.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {name} has different "
                "batch length than others."
            )
    return length or 0


def has_data_source(features: Any) -> bool:
    """Whether the features come from a dataset or a queue, and so can end."""
    tensors = tf.nest.flatten(features, expand_composites=True)
    if any(
        getattr(t, "op", None) is not None and t.op.type == "IteratorGetNext"
        for t in tensors
    ):
        return True
    return bool(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))
