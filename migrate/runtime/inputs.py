"""Input functions: what they are called with, and the batches that they give."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from .vocabulary import v1


class NeedsGraph(Exception):
    """An input function wants tensors that stand for every batch to come."""

    def __init__(self, dataset: tf.data.Dataset):
        super().__init__("tensors of an iterator")
        self.dataset = dataset


class InputState(threading.local):
    """How this thread calls an input function: eagerly, and ahead of who asks."""

    eager = False
    ahead = True
    # Of a data set that is being made: what the next iterator gives.
    given: list[Any] | None = None


NEEDS_DATASET = (
    "input_fn must return a tf.data.Dataset when a distribution strategy is used. "
    "Return the Dataset itself instead of the tensors of its iterator."
)
input_state = InputState()
iterator_numbers = itertools.count()


class EagerIterator:
    """A one-shot iterator over a data set, in a program that uses it eagerly."""

    def __init__(self, dataset: tf.data.Dataset):
        self.batches = iter(dataset)

    def get_next(self, name: str | None = None) -> Any:
        """The next batch; `OutOfRangeError` after the last one."""
        del name
        return self.batches.get_next()


class GivenBatch:
    """What stands for an iterator where one batch of it is worked on."""

    def __init__(self, batch: Any):
        self.batch = batch

    @property
    def initializer(self) -> Any:
        """Nothing is left to do."""
        return tf.no_op()

    def get_next(self, name: str | None = None) -> Any:
        """The batch."""
        del name
        return self.batch


def make_initializable_iterator(
    dataset: tf.data.Dataset, shared_name: str | None = None
) -> Any:
    """As `Dataset.make_initializable_iterator` of TensorFlow 1."""
    if input_state.eager:
        raise NeedsGraph(dataset)
    if input_state.given is not None:
        return given_batch()
    if not input_state.ahead:
        dataset = not_ahead(dataset)
    # Named, so that all functions that are cut from the graph share it.
    name = shared_name or f"iterator_{next(iterator_numbers)}"
    return v1.data.make_initializable_iterator(dataset, name)


def make_one_shot_iterator(dataset: tf.data.Dataset) -> Any:
    """As `Dataset.make_one_shot_iterator` of TensorFlow 1."""
    if input_state.eager:
        raise NeedsGraph(dataset)
    if input_state.given is not None:
        return given_batch()
    if tf.executing_eagerly():
        return EagerIterator(dataset)
    if not v1.get_default_graph().building_function:
        return v1.data.make_one_shot_iterator(dataset)
    iterator = make_initializable_iterator(dataset)
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator


def given_batch() -> GivenBatch:
    """The batch of the only iterator that an input function makes."""
    if not input_state.given:
        raise ValueError(NEEDS_DATASET)
    return GivenBatch(input_state.given.pop())


def accepted(function: Callable[..., Any], **offered: Any) -> dict[str, Any]:
    """Those of the arguments that a function takes by name."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in offered.items() if name in names}


@contextlib.contextmanager
def random_state_kept() -> Iterator[Callable[[], None]]:
    """Gives a function that puts the random numbers of Python back to here."""
    numbers, more = np.random.get_state(), random.getstate()

    def rewind() -> None:
        np.random.set_state(numbers)
        random.setstate(more)

    yield rewind


def dataset_of(
    input_fn: Callable[[], Any], *, needed: bool = False
) -> tf.data.Dataset | None:
    """The data set of an input function; None when it gives tensors of a graph.

    A data set made here, outside of the graph, keeps large arrays out of it. Where
    the function has to be called once more, inside the graph, that call draws the
    random numbers which this one drew. ``needed`` makes a data set of tensors, too,
    where they are those of one iterator.
    """
    made = behind = None
    with random_state_kept() as rewind, tf.device("/cpu:0"):
        input_state.eager = True
        try:
            made = input_fn()
        except NeedsGraph as asked:
            behind = asked.dataset
        except RuntimeError:
            pass
        finally:
            input_state.eager = False
        if isinstance(made, tf.data.Dataset):
            return made
        rewind()
        if needed and behind is not None:
            return with_work_on_batches(behind, input_fn)
    return None


def with_work_on_batches(
    dataset: tf.data.Dataset, input_fn: Callable[[], Any]
) -> tf.data.Dataset:
    """A data set that ends with what an input function does with each batch of it."""
    in_parts = isinstance(dataset.element_spec, tuple)

    def work(*batch: Any) -> Any:
        input_state.given = [batch if in_parts else batch[0]]
        try:
            made = input_fn()
        finally:
            input_state.given = None
        # A list would become one tensor.
        return tuple(made) if isinstance(made, list) else made

    return dataset.map(tf.autograph.experimental.do_not_convert(work))


def features_and_labels(batch: Any) -> tuple[Any, Any]:
    """Splits what an input function gives."""
    if not isinstance(batch, (tuple, list)):
        return batch, None
    if len(batch) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return batch[0], batch[1]


def not_ahead(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The data set without the `prefetch` that TensorFlow 2 adds by itself.

    Who asks for predictions one by one may say only then what they are for.
    """
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)


class ModelInput:
    """The batches of an input function, for each replica the next one.

    ``ahead`` lets TensorFlow make batches before they are asked for; ``used`` of each
    replica are left out.
    """

    def __init__(
        self,
        input_fn: Callable[[], Any],
        replicas: int = 1,
        *,
        ahead: bool = True,
        used: int = 0,
    ):
        self.input_fn = input_fn
        self.replicas = replicas
        self.ahead = ahead
        self.dataset = dataset_of(input_fn, needed=replicas > 1)
        if self.dataset is not None and not ahead:
            self.dataset = not_ahead(self.dataset)
        if self.dataset is None and replicas > 1:
            raise ValueError(NEEDS_DATASET)
        if self.dataset is not None and used:
            self.dataset = self.dataset.skip(used * replicas)
        self.iterator = None if self.dataset is None else iter(self.dataset)
        self.batches: list[Any] = []

    @property
    def tensors(self) -> list[Any]:
        """What is taken from the data set, as the graph has it."""
        return list(tf.nest.flatten(self.batches, expand_composites=True))

    def optional_batches(self, iterator: Any = None) -> list[Any]:
        """For each replica the next batch, if there is one."""
        batches: Any = self.iterator if iterator is None else iterator
        return [batches.get_next_as_optional() for _ in range(self.replicas)]

    def next_batches(self) -> list[Any]:
        """Tensors of the graph being traced: a batch for each replica."""
        if self.iterator is None:
            input_state.ahead = self.ahead
            try:
                with tf.device("/cpu:0"):
                    made = self.input_fn()
                if isinstance(made, tf.data.Dataset):
                    made = make_one_shot_iterator(made).get_next()
            finally:
                input_state.ahead = True
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
