"""Workers in several processes that take each step together."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from .vocabulary import logger
from .workers import Workers

# Workers have to be in the same call, and the same round of its loop.
STEPS_TOGETHER = 100
# The clocks of workers differ: where a program counts seconds, they save after steps.
STEPS_FOR_SECONDS = 1000
# How long the checkpoint of the chief may take to be seen by the others.
SECONDS_TO_SEE = 60.0
SECONDS_BETWEEN_LINES = 15.0
TASK = re.compile(r"/job:(\w+)(?:/replica:\d+)?/task:(\d+)")
LOST = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.FailedPreconditionError,
    tf.errors.InternalError,
    tf.errors.UnavailableError,
)


def number_when_traced() -> None:
    """Lets collective operations have their number from when they are traced.

    By default they are numbered when a function is called, through inputs that are
    lost when parts are cut out of a graph. All workers trace the same in the same
    order. There is no public name for it.
    """
    from tensorflow.python.distribute import cross_device_utils

    cross_device_utils.CollectiveReplicaLauncher._prefer_unique_instance_key = False


class WorkersTogether(Workers):
    """The workers of a cluster, as one of them sees it."""

    wait_in_steps = True
    steps_together = STEPS_TOGETHER

    def __init__(self, strategy: Any):
        super().__init__(strategy)
        resolver = strategy.cluster_resolver
        self.tasks = training_tasks(resolver)
        self.name = f"{resolver.task_type} {resolver.task_id}"
        self.index = list(self.tasks).index(self.name)
        self.is_chief = self.index == 0
        self.own_directory: str | None = None
        number_when_traced()

        def summed(value: Any) -> Any:
            def in_replica(value: Any) -> Any:
                here = tf.identity(value)  # A tensor of this replica's device.
                return tf.distribute.get_replica_context().all_reduce("SUM", here)

            results = strategy.run(in_replica, args=(value,))
            return strategy.experimental_local_results(results)[0]

        self.summed = tf.function(summed, autograph=False)
        # One operation for all questions: whoever asks, the others are asked in it.
        self.ask = self.summed.get_concrete_function(tf.TensorSpec([], tf.float64))

    def check_place(self, config: Any) -> None:
        """It is known."""

    def total(self, value: Any) -> Any:
        """The sum of the values that the workers have."""
        return self.summed(value / self.replicas)

    def input_context(self) -> Any:
        """Which share of the data is this worker's."""
        return tf.distribute.InputContext(
            len(self.tasks), self.index, self.strategy.num_replicas_in_sync
        )

    def config_of(self, config: Any) -> Any:
        """With a directory of its own for each but the chief.

        What is saved may be a mean over all, so all save; `at_work` removes it.
        """
        if config.save_checkpoints_secs:
            logger.warning(
                "Workers that train together save after steps, not seconds (their "
                "clocks differ): after every %d. Say save_checkpoints_steps.",
                STEPS_FOR_SECONDS,
            )
            config = config.replace(save_checkpoints_steps=STEPS_FOR_SECONDS)
        if self.is_chief:
            return config
        own = f"tmp_{self.name.replace(' ', '_')}"
        self.own_directory = os.path.join(config.model_dir, own)
        return config.replace(model_dir=self.own_directory)

    def same_checkpoint(self, find: Callable[[], str | None]) -> str | None:
        """The checkpoint that the chief begins with, once it is seen here too."""
        found = find()
        mine = step_of(found) if self.is_chief else 0
        wanted = int(self.ask(tf.constant(mine / self.replicas, tf.float64)))
        ends = time.time() + SECONDS_TO_SEE
        while step_of(found) != wanted:
            if time.time() > ends:
                raise RuntimeError(
                    f"The chief goes on from step {wanted - 1} and {self.name} finds "
                    f"{found or 'no checkpoint'}: model_dir has to be a directory that "
                    "all workers share."
                )
            time.sleep(0.2)
            found = find()
        return found

    def all_go_on(self, here: Any) -> Any:
        """Whether all have a batch, and none wants to end."""
        count = self.ask(tf.cast(here, tf.float64))
        return count > self.strategy.num_replicas_in_sync - 0.5

    def next_feeds(self, data: Any, left: float) -> dict[Any, Any] | None:
        """The next batches, when all workers have theirs."""
        del left
        with tf.init_scope():
            batches = data.optional_batches()
            if not self.all_go_on(tf.reduce_all([one.has_value() for one in batches])):
                return None
            taken = [one.get_value() for one in batches]
        flat = tf.nest.flatten(taken, expand_composites=True)
        return {
            f"{tensor.op.name}:{tensor.value_index}": value
            for tensor, value in zip(data.tensors, flat, strict=True)
        }

    def tell_end(self) -> None:
        """Says no to the next step."""
        with tf.init_scope():
            self.all_go_on(False)

    def wait(self) -> None:
        """Until all are here: the chief has saved then."""
        with tf.init_scope():
            self.all_go_on(True)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Names those who are lost when a step fails for it."""
        try:
            yield
            self.wait()
        except LOST as error:
            lost = [name for name, at in self.tasks.items() if not answers(at)]
            if not lost:  # Or it has been started again since.
                named = {" ".join(one) for one in TASK.findall(str(error))}
                lost = [name for name in self.tasks if name in named - {self.name}]
            if not lost:
                raise
            raise RuntimeError(
                f"Lost {', '.join(f'{name} ({self.tasks[name]})' for name in lost)}. "
                "Start all workers again: they go on from the latest checkpoint."
            ) from error
        finally:
            if self.own_directory is not None:
                shutil.rmtree(self.own_directory, ignore_errors=True)


def training_tasks(resolver: Any) -> dict[str, str]:
    """The address of each task that trains, the chief's first."""
    jobs = resolver.cluster_spec().as_dict()
    return {
        f"{job} {index}": address
        for job in ("chief", "worker")
        for index, address in enumerate(jobs.get(job, ()))
    }


def answers(address: str) -> bool:
    """Whether somebody listens there."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=3):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def waiting_for(tasks: dict[str, str]) -> Iterator[None]:
    """Says every now and then which tasks are not there yet."""
    over = threading.Event()

    def say() -> None:
        while not over.wait(SECONDS_BETWEEN_LINES):
            absent = [f"{one} ({at})" for one, at in tasks.items() if not answers(at)]
            if absent:
                logger.warning("Waiting for %s.", ", ".join(absent))

    threading.Thread(target=say, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def step_of(checkpoint: str | None) -> int:
    """One more than the step of a checkpoint; 0 where there is none."""
    return int(checkpoint.rpartition("-")[2]) + 1 if checkpoint else 0
