"""Data sets: as they are read, and in a graph."""

from __future__ import annotations

import itertools
from typing import Any

import tensorflow as tf

from .vocabulary import v1

NEEDS_DATASET = (
    "input_fn must return a tf.data.Dataset when a distribution strategy is used. "
    "Return the Dataset itself instead of the tensors of its iterator."
)
iterator_numbers = itertools.count()


def not_ahead(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The data set without the `prefetch` that TensorFlow 2 adds by itself.

    Who asks for predictions one by one may say only then what they are for.
    """
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)


def initializable(dataset: tf.data.Dataset, shared_name: str | None = None) -> Any:
    """An iterator of the graph, which all functions that are cut from it share."""
    name = shared_name or f"iterator_{next(iterator_numbers)}"
    return v1.data.make_initializable_iterator(dataset, name)


def one_shot(dataset: tf.data.Dataset) -> Any:
    """An iterator of the graph, at the beginning of its data when training begins."""
    iterator = initializable(dataset)
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator
