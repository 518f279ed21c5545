"""Iterators, as input functions of TensorFlow 1 make them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from .data_sets import NEEDS_DATASET, initializable, not_ahead, one_shot
from .vocabulary import v1


class NeedsGraph(RuntimeError):
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


input_state = InputState()


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
    return initializable(dataset, shared_name)


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
    return one_shot(dataset if input_state.ahead else not_ahead(dataset))


def given_batch() -> GivenBatch:
    """The batch of the only iterator that an input function makes."""
    if not input_state.given:
        raise ValueError(NEEDS_DATASET)
    return GivenBatch(input_state.given.pop())


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

    with tf.device("/cpu:0"):
        return dataset.map(tf.autograph.experimental.do_not_convert(work))


@contextlib.contextmanager
def asking_for_data_sets() -> Iterator[None]:
    """Within it, who wants tensors of an iterator is told that this is no graph."""
    input_state.eager = True
    try:
        yield
    finally:
        input_state.eager = False


@contextlib.contextmanager
def not_asked_ahead(ahead: bool) -> Iterator[None]:
    """Within it, iterators may be ahead of who asks, or not."""
    input_state.ahead = ahead
    try:
        yield
    finally:
        input_state.ahead = True
