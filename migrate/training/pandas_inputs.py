"""An input function for data frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .inputs import numpy_input_fn


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
