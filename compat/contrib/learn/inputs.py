"""``tf.contrib.learn``'s helpers for inputs: columns from data, arrays, pandas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from ...estimator import inputs as core
from ..layers import real_valued_column

__all__ = [
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "numpy_input_fn",
    "pandas_input_fn",
]


def _shuffling(make: Callable[..., Any]) -> Callable[..., Any]:
    """An input function's maker that shuffles unless it is told not to."""

    def made(
        x: Any,
        y: Any = None,
        batch_size: int = 128,
        num_epochs: int | None = 1,
        shuffle: bool = True,
        *rest: Any,
        **options: Any,
    ) -> Any:
        return make(x, y, batch_size, num_epochs, shuffle, *rest, **options)

    return made


numpy_input_fn = _shuffling(core.numpy_input_fn)
pandas_input_fn = _shuffling(core.pandas_input_fn)


def infer_real_valued_columns_from_input_fn(input_fn: Callable[..., Any]) -> list[Any]:
    """A numeric column for each feature that an input function gives."""
    with tf.Graph().as_default():
        features, _ = input_fn()
        if not isinstance(features, Mapping):
            features = {"": features}
        return [_column(name, features[name]) for name in sorted(features)]


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """A numeric column for each feature of the arrays."""
    arrays = x if isinstance(x, Mapping) else {"": np.asarray(x)}
    with tf.Graph().as_default():
        return [
            _column(name, tf.constant(np.asarray(arrays[name])[:1]))
            for name in sorted(arrays)
        ]


def _column(name: str, feature: Any) -> Any:
    if isinstance(feature, tf.SparseTensor):
        raise ValueError(f"The feature {name!r} is sparse: name its column yourself.")
    if feature.dtype.base_dtype == tf.string:
        raise ValueError(f"on unknown type of the feature {name!r}: it is a string.")
    shape = feature.shape.as_list()
    if len(shape) == 1:
        shape.append(1)
    if len(shape) != 2 or shape[1] is None:
        raise ValueError(f"Expected one row for each example of {name!r}: {shape}.")
    return real_valued_column(name, dimension=int(shape[1]))


def extract_pandas_data(data: Any) -> Any:
    """The values of a frame of numbers; anything else as it is."""
    if not _is_frame(data):
        return data
    bad = [
        f"{name} type={kind}"
        for name, kind in zip(data.columns, data.dtypes, strict=True)
        if kind.kind not in "ifub"
    ]
    if bad:
        raise ValueError(
            f"Data types for extracting pandas data must be int, float, or bool. "
            f"Found: {', '.join(bad)}"
        )
    return data.to_numpy().astype("float")


def extract_pandas_matrix(data: Any) -> Any:
    """The values of a frame; anything else as it is."""
    return data.to_numpy() if _is_frame(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """The values of a frame of one column; anything else as it is."""
    if _is_frame(labels):
        if len(labels.columns) > 1:
            raise ValueError("Only one column for labels is allowed.")
        return extract_pandas_data(labels)
    return labels


def _is_frame(data: Any) -> bool:
    kind = type(data)
    return kind.__module__.startswith("pandas.") and kind.__name__ == "DataFrame"
