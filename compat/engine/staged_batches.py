"""The batches of one step of an evaluation on several replicas.

They are fetched in a session call of their own, which says how many there were, and
wait in a queue for the call that updates the metrics.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from . import private_api
from .inputs import IteratorInitializerHook, is_dataset

__all__ = ["input_of_replicas", "is_wanted", "pull", "staging"]

# The stages whose batches the evaluation that is being built has asked for.
_asked: contextvars.ContextVar[list[_Stage] | None] = contextvars.ContextVar(
    "asked", default=None
)


@contextlib.contextmanager
def staging() -> Iterator[list[_Stage]]:
    """Within it an evaluation is built that pulls what it finds in the list."""
    stages: list[_Stage] = []
    token = _asked.set(stages)
    try:
        yield stages
    finally:
        _asked.reset(token)


def is_wanted(strategy: Any) -> bool:
    """Whether somebody will pull the batches of a stage: without that none come."""
    return _asked.get() is not None and strategy.num_replicas_in_sync > 1


def pull(stages: list[_Stage]) -> Any:
    """Fetches the batches of a step, and gives their number; None without stages."""
    pulls = [stage.pull for stage in stages]
    return tf.reduce_min(tf.stack(pulls)) if pulls else None


def input_of_replicas(
    call: Callable[[Any], Any], strategy: Any
) -> tuple[Any, IteratorInitializerHook]:
    """A stage in the place of a distributed iterator, and its hook."""
    stage = _Stage(call, strategy.num_replicas_in_sync)
    return stage, IteratorInitializerHook(lambda: stage.initializer)


class _Stage:
    """Stands for a distributed iterator; has a value for each replica."""

    def __init__(self, call: Callable[[Any], Any], count: int) -> None:
        self._count = count
        with tf.device("/cpu:0"):
            context = tf.distribute.InputContext(
                num_input_pipelines=1,
                input_pipeline_id=0,
                num_replicas_in_sync=self._count,
            )
            dataset = call(context)
            if not is_dataset(dataset):
                raise ValueError(
                    "input_fn must return a tf.data.Dataset when a distribution "
                    f"strategy is used, given: {dataset}."
                )
            self._iterator = tf.data.make_initializable_iterator(dataset)
            self._build()

    def _build(self) -> None:
        first = self._iterator.get_next()
        components = tf.nest.flatten(first, expand_composites=True)
        batches = [components]
        present = [tf.constant(1, tf.int32)]
        for _ in range(1, self._count):
            # One after the other: successive batches go to successive replicas.
            with tf.control_dependencies(batches[-1] + present[-1:]):
                optional = private_api.get_next_as_optional(self._iterator)
                has_value = optional.has_value()
            present.append(tf.cast(has_value, tf.int32))
            batches.append(
                tf.nest.flatten(
                    tf.cond(
                        has_value,
                        lambda optional=optional: tf.nest.flatten(
                            optional.get_value(), expand_composites=True
                        ),
                        lambda: [tf.identity(c) for c in components],
                    )
                )
            )
        flat = [component for batch in batches for component in batch]
        # The queue holds one step; it is fed and emptied in turn, and is empty
        # again when evaluation ends.
        queue = tf.queue.FIFOQueue(1, [c.dtype for c in flat])
        with tf.control_dependencies([queue.enqueue(flat)]):
            self.pull = tf.add_n(present)
        staged = queue.dequeue()
        staged = staged if isinstance(staged, list) else [staged]
        size = len(components)
        self._batches = []
        for index in range(self._count):
            parts = staged[index * size : (index + 1) * size]
            for part, component in zip(parts, components, strict=True):
                part.set_shape(component.shape)
            self._batches.append(
                tf.nest.pack_sequence_as(first, parts, expand_composites=True)
            )

    @property
    def initializer(self) -> Any:
        """What starts the data set."""
        return self._iterator.initializer

    def get_next(self) -> Any:
        """The batches of the replicas, each of which finds its own in a call."""
        stages = _asked.get()
        if stages is not None and self not in stages:
            stages.append(self)
        return private_api.value_per_replica(self._batches)
