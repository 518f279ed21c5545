"""Summaries of tensors, activations and collections."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "summarize_activation",
    "summarize_activations",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
]


def _has_summary(name: str) -> bool:
    return any(
        summary.op.name == name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)
    )


def _name(tensor: Any, name: str) -> str | None:
    return None if _has_summary(f"{tensor.op.name}/{name}") else name


def summarize_activation(op: Any) -> Any:
    """A histogram of a layer's output, and its share of zeros for ReLUs."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        tf.summary.scalar(
            f"{op.op.name}/zeros",
            tf.reduce_mean(tf.cast(tf.less(op, 1e-6), tf.float32)),
        )
    if op.op.type == "Relu6":
        tf.summary.scalar(
            f"{op.op.name}/sixes",
            tf.reduce_mean(tf.cast(tf.greater(op, 6.0 - 1e-6), tf.float32)),
        )
    return tf.summary.histogram(f"{op.op.name}/activation", op)


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A scalar or histogram summary, whichever fits; None for strings."""
    name = tag or tensor.op.name
    if tensor.get_shape().ndims == 0:
        return tf.summary.scalar(name, tensor)
    if tensor.dtype.base_dtype in (tf.string, tf.bool):
        return None
    return tf.summary.histogram(name, tensor)


def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """A summary of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """A summary of each tensor in a collection."""
    return summarize_tensors(tf.get_collection(collection, name_filter), summarizer)


def summarize_activations(
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_activation,
) -> list[Any]:
    """A summary of each tensor in the ACTIVATIONS collection."""
    return summarize_collection(tf.GraphKeys.ACTIVATIONS, name_filter, summarizer)
