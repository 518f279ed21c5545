"""``tf.estimator.inputs``: input functions from numpy arrays and pandas frames.

The queues of TF 1.x are datasets here. Batches still run across the ends of
epochs, as they did in the queue.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from ..engine import arrays

__all__ = ["numpy_input_fn", "pandas_input_fn"]

_SHUFFLE_MUST_BE_SET = (
    "shuffle must be provided and explicitly set as boolean (it is recommended to set "
    "it as True for training); got {}"
)


def _batches(
    columns: Mapping[str, Any],
    *,
    batch_size: int,
    num_epochs: int | None,
    shuffle: bool,
) -> Any:
    """A dataset of batches of rows, as a dict of the columns."""
    length = len(next(iter(columns.values())))
    with tf.device("/cpu:0"), arrays.kept_out_of_graph():
        rows = tf.data.Dataset.range(length)
        if shuffle:
            rows = rows.shuffle(length)
        rows = rows.repeat(num_epochs)
        rows = rows.batch(batch_size, drop_remainder=num_epochs is None)
        tensors = {key: tf.convert_to_tensor(value) for key, value in columns.items()}
        return rows.map(
            lambda index: {key: tf.gather(t, index) for key, t in tensors.items()}
        ).prefetch(2)


def _elements(dataset: Any) -> Any:
    """The dataset itself under a strategy, else the tensors of its batches.

    Programs unpack and transform the tensors, so tensors it must be where they
    could be had in TF 1.x; strategies never took anything but datasets.
    """
    if tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context():
        return dataset
    return tf.data.make_one_shot_iterator(dataset).get_next()


def _unpacked(dataset: Any, unpack: Callable[[Any], Any]) -> Any:
    return _elements(dataset.map(unpack))


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An input function that feeds an array, or a dict of arrays, in batches.

    ``queue_capacity`` and ``num_threads`` tuned the queue of TF 1.x and have
    nothing to tune here.
    """
    del queue_capacity, num_threads
    if not isinstance(shuffle, bool):
        raise ValueError(_SHUFFLE_MUST_BE_SET.format(shuffle))

    def input_fn() -> Any:
        features = _checked_features(x)
        targets = _checked_targets(features, y)
        lengths = {v.shape[0] for v in (*features.values(), *targets.values())}
        if len(lengths) != 1:
            raise ValueError(_length_message(features, targets, y))
        dataset = _batches(
            {
                **{f"x/{k}": v for k, v in features.items()},
                **{f"y/{k}": v for k, v in targets.items()},
            },
            batch_size=batch_size,
            num_epochs=num_epochs,
            shuffle=shuffle,
        )

        def unpack(columns: Any) -> Any:
            rows: Any = {k: columns[f"x/{k}"] for k in features}
            if not isinstance(x, dict):
                rows = rows[_SINGLE]
            if y is None:
                return rows
            labels: Any = {k: columns[f"y/{k}"] for k in targets}
            return rows, labels if isinstance(y, dict) else labels[_SINGLE]

        return _unpacked(dataset, unpack)

    return input_fn


_SINGLE = "__direct_np_input__"


def _checked_features(x: Any) -> dict[str, np.ndarray]:
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return {key: np.asarray(x[key]) for key in sorted(x)}
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return {_SINGLE: x}
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _checked_targets(features: Mapping[str, Any], y: Any) -> dict[str, np.ndarray]:
    if y is None:
        return {}
    if not isinstance(y, dict):
        return {_SINGLE: np.asarray(y)}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    twice = set(features) & set(y)
    if twice:
        raise ValueError(
            f"{len(twice)} duplicate keys are found in both x and y: {twice}"
        )
    return {key: np.asarray(y[key]) for key in sorted(y)}


def _length_message(
    features: Mapping[str, Any], targets: Mapping[str, Any], y: Any
) -> str:
    shape_of_y: Any = None
    if y is not None:
        shape_of_y = {k: v.shape for k, v in targets.items()}
        if not isinstance(y, dict):
            shape_of_y = shape_of_y[_SINGLE]
    return (
        "Length of tensors in x and y is mismatched. All elements in x and y must "
        "have the same length.\n"
        f"Shapes in x: { {k: v.shape for k, v in features.items()} }\n"
        f"Shapes in y: {shape_of_y}\n"
    )


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
    """An input function that feeds the rows of a pandas ``DataFrame``."""
    del queue_capacity, num_threads
    try:
        import pandas as pd
    except ImportError as error:
        raise TypeError(
            "pandas_input_fn should not be called without pandas installed"
        ) from error
    if not isinstance(shuffle, bool):
        raise ValueError(_SHUFFLE_MUST_BE_SET.format(shuffle))
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")

    features = {column: x[column] for column in x.columns}
    targets: dict[str, Any] = {}
    if y is not None:
        if target_column in x:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already "
                f"has a column with that name: {x.columns}"
            )
        if not np.array_equal(x.index, y.index):
            raise ValueError(
                "Index for x and y are mismatched.\n"
                f"Index for x: {x.index}\nIndex for y: {y.index}\n"
            )
        if isinstance(y, pd.DataFrame):
            targets = {column: y[column] for column in y.columns}
        else:
            targets = {target_column: y}

    # A target may have the name of a feature: each has a key of its own here.
    mark = uuid.uuid4().hex
    columns = {
        **{f"x/{mark}/{k}": _column_values(v) for k, v in features.items()},
        **{f"y/{mark}/{k}": _column_values(v) for k, v in targets.items()},
    }

    def input_fn() -> Any:
        dataset = _batches(
            columns, batch_size=batch_size, num_epochs=num_epochs, shuffle=shuffle
        )

        def unpack(batch: Any) -> Any:
            rows = {k: batch[f"x/{mark}/{k}"] for k in features}
            if y is None:
                return rows
            labels = {k: batch[f"y/{mark}/{k}"] for k in targets}
            if isinstance(y, pd.DataFrame):
                return rows, labels
            return rows, labels[target_column]

        return _unpacked(dataset, unpack)

    return input_fn


def _column_values(series: Any) -> np.ndarray:
    values: np.ndarray = series.to_numpy()
    if values.dtype.kind == "O" and all(isinstance(v, str | bytes) for v in values):
        return np.asarray([v.encode() if isinstance(v, str) else v for v in values])
    return values
