"""Arrays, in the batches and the order in which tf.contrib.learn took them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf


def arrays_input_fn(
    x: Any, y: Any = None, batch_size: int | None = None, *, shuffle: bool = False
) -> Callable[[], Any]:
    """Serves arrays once, or shuffles them for ever; an epoch ends with what is left.

    All are one batch without a size. The order is the same in every run.
    """
    x, y = each_of(x, as_rows), None if y is None else each_of(y, as_labels)
    data, count = x if y is None else (x, y), len(tf.nest.flatten(x)[0])
    size = batch_size or count

    def input_fn() -> Any:
        if not shuffle:
            return tf.data.Dataset.from_tensor_slices(data).batch(size)
        chance = np.random.RandomState(42)

        def epoch(_: Any) -> Any:
            order = tf.numpy_function(lambda: chance.permutation(count), [], tf.int64)
            order = tf.data.Dataset.from_tensor_slices(tf.ensure_shape(order, [count]))
            return order.batch(size)

        places = tf.data.Dataset.from_tensors(0).repeat().flat_map(epoch)
        return places.map(
            lambda some: tf.nest.map_structure(lambda one: tf.gather(one, some), data)
        )

    return input_fn


def each_of(data: Any, shaped: Callable[[Any], Any]) -> Any:
    """Returns an array, or the arrays of a dict, in another shape."""
    if isinstance(data, dict):
        return {name: shaped(one) for name, one in data.items()}
    return shaped(data)


def as_rows(features: Any) -> Any:
    """Returns features with a row for each example; a DataFrame is its numbers."""
    if hasattr(features, "columns"):
        features = features.to_numpy().astype(float)
    features = in_floats(features)
    return features[:, None] if features.ndim == 1 else features


def as_labels(labels: Any) -> Any:
    """Returns labels, each of which is a number where it was a row of one."""
    labels = in_floats(labels)
    return labels[:, 0] if labels.shape[1:2] == (1,) else labels


def in_floats(values: Any) -> Any:
    """Returns an array, doubles as the floats that Keras computes with."""
    values = np.asarray(values)
    return values.astype(np.float32) if values.dtype == np.float64 else values


def first_batch(input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """Serves the first batch of an input function, and nothing more."""

    def once() -> Any:
        data = input_fn()
        if not isinstance(data, tf.data.Dataset):
            data = tf.data.Dataset.from_tensors(data)
        return data.take(1)

    return once


def stacked(predictions: Iterable[Any]) -> Any:
    """Returns the predictions for all examples in one array, or in a dict of them."""
    return tf.nest.map_structure(lambda *all_of: np.stack(all_of), *predictions)
