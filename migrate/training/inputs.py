"""Input functions for arrays and data frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Serves arrays; a batch may hold the end of an epoch and the start of the next."""

    def input_fn() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(x if y is None else (x, y))
        if shuffle:
            dataset = dataset.shuffle(len(dataset))
        return dataset.repeat(num_epochs).batch(batch_size)

    return input_fn


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Serves the columns of a DataFrame, and labels from a Series or DataFrame."""
    features = {name: x[name].to_numpy() for name in x}
    labels = y
    if hasattr(y, "columns"):
        labels = {name: y[name].to_numpy() for name in y}
    elif y is not None:
        labels = y.to_numpy()
    return numpy_input_fn(features, labels, batch_size, num_epochs, shuffle)
