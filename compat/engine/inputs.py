"""What an input function returned, as features and labels of a graph."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from . import arrays, private_api
from .callables import argument_names

__all__ = [
    "IteratorInitializerHook",
    "ModelInput",
    "call_input_fn",
    "features_and_labels",
    "initializable_iterator",
    "input_not_ahead",
    "input_of",
    "is_dataset",
    "make_replica_input",
]


def call_input_fn(input_fn: Callable[..., Any], offered: Mapping[str, Any]) -> Any:
    """Calls an input function with those of the arguments that it names."""
    if not callable(input_fn):
        raise TypeError(
            "input_fn must be a function that returns the input, given: "
            f"{input_fn!r}. Pass the function itself, or wrap the call: "
            "input_fn=lambda: my_input_fn(...)."
        )
    names = argument_names(input_fn)
    kwargs = {name: value for name, value in offered.items() if name in names}
    with tf.device("/cpu:0"), arrays.kept_out_of_graph():
        return input_fn(**kwargs)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelInput:
    """Features and labels, and the hooks that start their source."""

    features: Any
    labels: Any
    hooks: tuple[Any, ...] = ()
    raw: Any = None


class IteratorInitializerHook(tf.train.SessionRunHook):
    """Starts an iterator in every new session, after tables and variables."""

    def __init__(self, initializer: Callable[[], Any]) -> None:
        self._make = initializer
        self._op: Any = None

    def begin(self) -> None:
        self._op = self._make()

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._op)


def is_dataset(value: Any) -> bool:
    """A ``tf.data.Dataset`` of either generation."""
    return isinstance(value, tf.data.Dataset | tf.compat.v2.data.Dataset)


def features_and_labels(element: Any) -> tuple[Any, Any]:
    """Splits what one step gets into features and labels."""
    if isinstance(element, list | tuple):
        if len(element) != 2:
            raise ValueError(
                "input_fn should return (features, labels) as a len 2 tuple."
            )
        return element[0], element[1]
    return element, None


def input_not_ahead(call: Callable[[], Any]) -> ModelInput:
    """Input of a prediction: nothing is made before it is asked for."""
    with _iterators_not_ahead():
        result = call()
    return input_of(not_ahead(result) if is_dataset(result) else result)


def not_ahead(dataset: Any) -> Any:
    """The data set without the `prefetch` that TensorFlow 2 adds by itself."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)


@contextlib.contextmanager
def _iterators_not_ahead() -> Iterator[None]:
    """Within it, iterators that are made of data sets make nothing ahead either."""
    kind = tf.data.Dataset
    make = kind.make_one_shot_iterator
    kind.make_one_shot_iterator = lambda dataset: make(not_ahead(dataset))
    try:
        yield
    finally:
        kind.make_one_shot_iterator = make


def input_of(result: Any) -> ModelInput:
    """What an input function returned, as tensors of the current graph."""
    hooks: tuple[Any, ...] = ()
    if is_dataset(result):
        iterator = initializable_iterator(result)
        hooks = (IteratorInitializerHook(lambda: iterator.initializer),)
        result = iterator.get_next()
    features, labels = features_and_labels(result)
    return ModelInput(features=features, labels=labels, hooks=hooks, raw=result)


def initializable_iterator(dataset: Any) -> Any:
    """An iterator of the current graph, for a session to start."""
    try:
        return tf.data.make_initializable_iterator(dataset)
    except ValueError as error:
        if "same graph" not in str(error) and "graph" not in str(error):
            raise
        raise ValueError(
            "The Dataset was made outside of input_fn, in another graph. Make it "
            f"inside input_fn: it is called once per graph. ({error})"
        ) from error


def make_replica_input(
    call: Callable[[Any], Any], strategy: Any
) -> tuple[Any, IteratorInitializerHook]:
    """A distributed iterator (successive batches to replicas) and its hook."""

    def dataset_fn(input_context: Any) -> Any:
        result = call(input_context)
        if not is_dataset(result):
            raise ValueError(
                "input_fn must return a tf.data.Dataset when a distribution strategy "
                f"is used, given: {result}. Return the Dataset itself instead of the "
                "tensors of its iterator."
            )
        return result

    with private_api.quiet_iterators():
        # The strategy may be one of the program's own, with this method.
        iterator = strategy.make_input_fn_iterator(dataset_fn)
    hook = IteratorInitializerHook(
        lambda: private_api.distributed_initializer(iterator)
    )
    return iterator, hook
