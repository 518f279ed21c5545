"""``tf.contrib.learn``'s readers of files: batches of records or parsed features.

Queues filled them once; here it is tf.data, which needs no queue runners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from ...engine.iterators import make_one_shot_iterator

__all__ = ["read_batch_examples", "read_batch_features", "read_batch_record_features"]


def read_batch_examples(
    file_pattern: Any,
    batch_size: int,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A batch of records, each time it is evaluated."""
    del num_threads, read_batch_size
    records = _records(file_pattern, reader, randomize_input, seed)
    if parse_fn is not None:
        records = records.map(parse_fn)
    if randomize_input:
        records = records.shuffle(queue_capacity, seed=seed)
    batches = records.repeat(num_epochs).batch(batch_size)
    return _next(batches, name)


def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> dict[str, Any]:
    """The features of a batch of tf.Examples, each time they are evaluated."""
    del feature_queue_capacity, reader_num_threads, num_enqueue_threads
    del read_batch_size
    records = _records(file_pattern, reader, randomize_input, None)
    if parse_fn is not None:
        records = records.map(parse_fn)
    if randomize_input:
        records = records.shuffle(queue_capacity)
    batches = records.repeat(num_epochs).batch(batch_size)
    found: dict[str, Any] = _next(
        batches.map(lambda examples: tf2.io.parse_example(examples, features)), name
    )
    return found


def read_batch_record_features(
    file_pattern: Any,
    batch_size: int,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str | None = "dequeue_record_examples",
) -> dict[str, Any]:
    """The same of files of records."""
    del reader_num_threads
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        tf.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        name=name,
    )


def _records(
    file_pattern: Any, reader: Callable[[], Any], shuffled: bool, seed: int | None
) -> Any:
    files = tf2.data.Dataset.list_files(file_pattern, shuffle=shuffled, seed=seed)
    with tf.Graph().as_default():
        kind = type(reader())
    if issubclass(kind, tf.TFRecordReader):
        return files.flat_map(tf2.data.TFRecordDataset)
    if issubclass(kind, tf.TextLineReader):
        return files.flat_map(tf2.data.TextLineDataset)
    raise ValueError(
        f"Files are read with tf.TFRecordReader or tf.TextLineReader, not {kind}: "
        "read them with tf.data."
    )


def _next(batches: Any, name: str | None) -> Any:
    with tf.name_scope(name, "read_batch"):
        return make_one_shot_iterator(batches).get_next()
