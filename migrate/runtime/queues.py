"""Input functions that read through queues, as those of TensorFlow 1 did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from .vocabulary import v1


class QueuedInput:
    """The graph of an input function whose queues threads fill, as a session does."""

    def __init__(self, input_fn: Callable[[], Any]):
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device("/cpu:0"):
            v1.train.get_or_create_global_step()
            self.batch = input_fn()
            self.starts = [
                v1.global_variables_initializer(),
                v1.local_variables_initializer(),
                v1.tables_initializer(),
            ]
        self.is_queued = bool(self.graph.get_collection(v1.GraphKeys.QUEUE_RUNNERS))

    def batches(self) -> Iterator[Any]:
        """Its batches, until a queue is closed and empty."""
        runners = self.graph.get_collection(v1.GraphKeys.QUEUE_RUNNERS)
        coordinator = tf.train.Coordinator()
        session = v1.Session(graph=self.graph)
        session.run(self.starts)
        for runner in runners:
            runner.create_threads(session, coordinator, daemon=True, start=True)
        try:
            while True:
                try:
                    found = session.run(self.batch)
                except tf.errors.OutOfRangeError:
                    break
                yield tf.nest.map_structure(_as_given, self.batch, found)
        finally:
            coordinator.request_stop()
            # Threads that wait for room in a queue wake up and end.
            session.run([runner.cancel_op for runner in runners])
            coordinator.join(ignore_live_threads=True)
            session.close()

    def dataset(self) -> tf.data.Dataset:
        """The batches as a data set."""
        signature = tf.nest.map_structure(tf.type_spec_from_value, self.batch)
        return tf.data.Dataset.from_generator(self.batches, output_signature=signature)


def _as_given(symbolic: Any, found: Any) -> Any:
    if isinstance(symbolic, tf.SparseTensor):
        return tf.SparseTensor(*found)
    return found


def called_eagerly(input_fn: Callable[[], Any]) -> Any:
    """What an input function gives where there is no graph, and so no queues.

    Some functions of TensorFlow call that a wrong value.
    """
    try:
        return input_fn()
    except ValueError as error:
        if "Queues" in str(error):
            raise RuntimeError(str(error)) from error
        raise


def read_through_queues(input_fn: Callable[[], Any]) -> tf.data.Dataset | None:
    """The data set of an input function with queues; None where it has none."""
    read = QueuedInput(input_fn)
    return read.dataset() if read.is_queued else None
