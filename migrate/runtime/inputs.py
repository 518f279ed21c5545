"""Input functions: what they are called with, and the batches that they give."""

from __future__ import annotations

import contextlib
import inspect
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from .asked import CLUSTERS, ITERATORS, QUEUES, REPLICAS, RESUMED
from .data_sets import NEEDS_DATASET, not_ahead, one_shot
from .iterators import (
    NeedsGraph,
    asking_for_data_sets,
    not_asked_ahead,
    with_work_on_batches,
)
from .queues import called_eagerly, read_through_queues


def accepted(function: Callable[..., Any], **offered: Any) -> dict[str, Any]:
    """Those of the arguments that a function takes by name."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in offered.items() if name in names}


def random_state() -> Callable[[], None]:
    """A function that puts the random numbers of Python back to where they are now."""
    numbers, more = np.random.get_state(), random.getstate()

    def rewind() -> None:
        np.random.set_state(numbers)
        random.setstate(more)

    return rewind


def dataset_of(
    input_fn: Callable[[], Any], *, needed: bool = False
) -> tf.data.Dataset | None:
    """The data set of an input function; None when it gives tensors of a graph.

    A data set made here, outside of the graph, keeps large arrays out of it. Where
    the function has to be called once more, inside the graph, that call draws the
    random numbers which this one drew. ``needed`` makes a data set of tensors, too,
    where they are those of one iterator.
    """
    made: Any = None
    rewind = random_state()
    with (
        tf.device("/cpu:0"),
        asking_for_data_sets() if ITERATORS else contextlib.nullcontext(),
    ):
        try:
            made = called_eagerly(input_fn) if QUEUES else input_fn()
        except RuntimeError as error:
            made = error  # It makes what only a graph can have.
        if isinstance(made, tf.data.Dataset):
            return made
        rewind()
    if QUEUES and isinstance(made, RuntimeError):
        # There are no queues where there is no graph, and TensorFlow says so.
        queued = read_through_queues(input_fn)
        if queued is not None:
            return queued
        rewind()
    if ITERATORS and needed and isinstance(made, NeedsGraph):
        return with_work_on_batches(made.dataset, input_fn)
    return None


def features_and_labels(batch: Any) -> tuple[Any, Any]:
    """Splits what an input function gives."""
    if not isinstance(batch, (tuple, list)):
        return batch, None
    if len(batch) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return batch[0], batch[1]


class ModelInput:
    """The batches of an input function, for each replica the next one.

    ``ahead`` lets TensorFlow make batches before they are asked for.
    """

    def __init__(
        self,
        input_fn: Callable[[], Any],
        *,
        replicas: int = 1,
        ahead: bool = True,
        used: int = 0,
    ):
        self.input_fn = input_fn
        self.replicas = replicas if REPLICAS else 1
        self.ahead = ahead
        self.dataset = dataset_of(input_fn, needed=self.replicas > 1)
        if self.dataset is not None and not ahead:
            self.dataset = not_ahead(self.dataset)
        if REPLICAS and self.dataset is None and replicas > 1:
            raise ValueError(NEEDS_DATASET)
        if RESUMED and self.dataset is not None and used:
            self.dataset = self.dataset.skip(used * self.replicas)
        self.iterator = None if self.dataset is None else iter(self.dataset)
        self.batches: list[Any] = []

    @property
    def tensors(self) -> list[Any]:
        """What is taken from the data set, as the graph has it."""
        return list(tf.nest.flatten(self.batches, expand_composites=True))

    def optional_batches(self, source: Any = None) -> list[Any]:
        """For each replica the next batch, if there is one."""
        batches: Any = self.iterator
        if CLUSTERS and source is not None:
            batches = source
        return [batches.get_next_as_optional() for _ in range(self.replicas)]

    def next_batches(self) -> list[Any]:
        """Tensors of the graph being traced: a batch for each replica."""
        if self.iterator is None:
            with (
                tf.device("/cpu:0"),
                not_asked_ahead(self.ahead) if ITERATORS else contextlib.nullcontext(),
            ):
                made = self.input_fn()
            if isinstance(made, tf.data.Dataset):
                data = made if self.ahead else not_ahead(made)
                made = one_shot(data).get_next()
            return [made]
        with tf.device("/cpu:0"):
            for _ in range(self.replicas):
                # One after the other: successive batches go to successive replicas.
                with tf.control_dependencies([one.op for one in self.tensors]):
                    taken = self.iterator.get_next()
                parts = tf.nest.flatten(taken, expand_composites=True)
                # Each with a name of its own, so that it can be fed by that.
                parts = [tf.identity(part, "batch") for part in parts]
                batch = tf.nest.pack_sequence_as(taken, parts, expand_composites=True)
                self.batches.append(batch)
        return self.batches


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], tf.data.Dataset]:
    """An input function for an array, or a dict of arrays.

    Batches run across the ends of epochs, as they did in a queue.
    """
    del queue_capacity, num_threads
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended "
            f"to set it as True for training); got {shuffle}"
        )
    if not isinstance(x, (dict, np.ndarray)):
        raise TypeError(f"x must be a dict or array; got {type(x).__name__}")

    def input_fn() -> tf.data.Dataset:
        data = x if y is None else (x, y)
        data = tf.nest.map_structure(np.asarray, data)
        lengths = {len(column) for column in tf.nest.flatten(data)}
        if len(lengths) != 1:
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y "
                f"must have the same length, given: {sorted(lengths)}"
            )
        dataset = tf.data.Dataset.from_tensor_slices(data)
        if shuffle:
            dataset = dataset.shuffle(max(lengths))
        dataset = dataset.repeat(num_epochs)
        return dataset.batch(batch_size, drop_remainder=num_epochs is None).prefetch(2)

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
) -> Callable[[], tf.data.Dataset]:
    """An input function for a pandas DataFrame."""
    if y is not None and not np.array_equal(x.index, y.index):
        raise ValueError(
            "Index for x and y are mismatched.\n"
            f"Index for x: {x.index}\nIndex for y: {y.index}\n"
        )
    if y is not None and target_column in x:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already "
            f"has a column with that name: {x.columns}"
        )
    features = {name: column_values(x[name]) for name in x.columns}
    labels = y
    if hasattr(y, "columns"):
        labels = {name: column_values(y[name]) for name in y.columns}
    elif y is not None:
        labels = column_values(y)
    return numpy_input_fn(
        features, labels, batch_size, num_epochs, shuffle, queue_capacity, num_threads
    )


def column_values(series: Any) -> np.ndarray:
    """The values of a column; text as bytes, which is what TensorFlow has."""
    values: np.ndarray = series.to_numpy()
    if values.dtype.kind == "O" and all(isinstance(v, (str, bytes)) for v in values):
        return np.asarray([v.encode() if isinstance(v, str) else v for v in values])
    return values
