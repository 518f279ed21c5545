"""``tf.contrib.learn.io``: batches of examples from files.

They came through queues; a data set gives the same batches without threads that a
session has to run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ...engine.iterators import make_one_shot_iterator

__all__ = ["read_batch_examples", "read_batch_features", "read_batch_record_features"]


def read_batch_examples(
    file_pattern: str | Sequence[str],
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
    """The next examples, as they stand in the files; whole batches only."""
    del num_threads, read_batch_size
    if batch_size is None or batch_size <= 0 or batch_size >= queue_capacity:
        raise ValueError(
            f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}."
        )
    paths = _paths(file_pattern)
    with tf.name_scope(name, "read_batch_examples"):
        files = tf.data.Dataset.from_tensor_slices(paths)
        if randomize_input:
            files = files.shuffle(len(paths), seed)
        examples = files.repeat(num_epochs).flat_map(_reading(reader))
        if parse_fn is not None:
            examples = examples.map(parse_fn)
        if randomize_input:
            examples = examples.shuffle(max(1, queue_capacity // 4 * 3), seed)
        batches = examples.batch(batch_size, drop_remainder=True).prefetch(1)
        return make_one_shot_iterator(batches).get_next()


def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """The same, parsed as ``tf.Example``."""
    del feature_queue_capacity, reader_num_threads, num_enqueue_threads
    examples = read_batch_examples(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        parse_fn=parse_fn,
        name=name,
    )
    found: dict[str, Any] = tf.parse_example(examples, features)
    return found


def read_batch_record_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: dict[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str | None = "dequeue_record_examples",
) -> dict[str, Any]:
    """The same, from files of records."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        tf.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )


def _paths(file_pattern: str | Sequence[str]) -> list[str]:
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    found = sorted(path for pattern in patterns for path in tf.gfile.Glob(pattern))
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found


def _reading(reader: Callable[[], Any]) -> Callable[[Any], Any]:
    """What a reader of queues reads of a file, as a data set."""
    with tf.Graph().as_default():
        made = reader()
        kind = type(made).__name__
        if kind == "TFRecordReader":
            return lambda path: tf.data.TFRecordDataset(path)
        if kind == "TextLineReader":
            skipped = made.reader_ref.op.get_attr("skip_header_lines")
            return lambda path: tf.data.TextLineDataset(path).skip(skipped)
        if kind == "WholeFileReader":
            return lambda path: tf.data.Dataset.from_tensors(tf.io.read_file(path))
    raise ValueError(f"{kind} reads no files that a data set reads.")
