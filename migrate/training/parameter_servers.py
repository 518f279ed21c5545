"""Workers that take steps of their own, on variables of parameter servers."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from . import cluster
from .callbacks import Callback, Trainer
from .cluster import LOST, answers, lost
from .core import NEVER, logger


class ClusterTrainer(cluster.ClusterTrainer):
    """A trainer that trains with other tasks, and does all else alone."""

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: cluster.RunConfig | None = None,
        params: Any = None,
        **others: Any,
    ) -> None:
        config = config or cluster.RunConfig()
        if config.task_type in ("chief", "master") and config.count("worker"):
            strategy_of(tasks_of(config))  # a chief loses what it made before
        super().__init__(make_task, model_dir, config, params, **others)

    def _member(self) -> Trainer:
        """Makes what trains in this task; a worker or a server ends with the chief."""
        config, tasks = self.config, tasks_of(self.config)
        if config.cluster_spec and not config.is_chief:
            serve(config.task_type, config.task_id, json.loads(tasks))
            sys.exit()
        if not config.count("worker"):
            return Trainer(model_dir=self.model_dir, config=config, **self.made_of)
        config = dataclasses.replace(config, strategy=strategy_of(tasks))
        return Chief(model_dir=self.model_dir, config=config, **self.made_of)


@functools.cache
def strategy_of(tasks: str) -> Any:
    """Returns the strategy of a chief, which is connected to all tasks from now on."""
    os.environ["GRPC_FAIL_FAST"] = "use_caller"  # a worker may come back
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(json.loads(tasks)), task_type="chief", task_id=0
    )
    return tf.distribute.ParameterServerStrategy(resolver)


def tasks_of(config: cluster.RunConfig) -> str:
    """Returns the addresses of those that train, as JSON; a master is a chief."""
    jobs = config.cluster_spec.as_dict()
    chief = jobs.get("chief") or jobs.get("master")
    if jobs and not chief:
        raise ValueError("The cluster of TF_CONFIG has no chief.")
    if "worker" in jobs and "ps" not in jobs:
        raise ValueError("The cluster of TF_CONFIG has workers, but no ps.")
    others = {job: jobs[job] for job in ("worker", "ps") if job in jobs}
    return json.dumps({"chief": chief, **others})


def serve(job: str, index: int, tasks: dict[str, list[str]]) -> None:
    """Does what the chief asks for, until it has been gone for some seconds."""
    server = tf.distribute.Server(tasks, job, index)
    logger.info("Serves at %s", server.target)
    patience, last_seen = 30, math.inf
    while time.time() < last_seen + patience:
        time.sleep(1)
        if answers(tasks["chief"][0]):
            last_seen = time.time()


class Chief(Trainer):
    """Hands steps to workers, who may come and go, and saves."""

    def __init__(self, config: cluster.RunConfig, **others: Any) -> None:
        super().__init__(config=config, **others)
        servers = config.cluster_spec.job_tasks("ps")
        self.servers = {f"ps {index}": at for index, at in enumerate(servers)}
        self.workers = config.count("worker")
        self.coordinator = tf.distribute.coordinator.ClusterCoordinator(self.strategy)

    def train(self, *args: Any, **kwargs: Any) -> Trainer:
        """Trains on all workers; a server that is lost ends the training."""
        try:
            return super().train(*args, **kwargs)
        except LOST as error:
            raise lost(self.servers, error) from error

    def _save(
        self, step: int, listeners: Iterable[Callable[[int], Any]] | None
    ) -> None:
        # Steps of a worker that was lost may have been taken twice.
        super()._save(self.global_step, listeners)

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        """Returns the data of one worker; each reads its own."""

        def data_of(index: Any) -> Any:
            given = {}
            if "input_context" in inspect.signature(input_fn).parameters:
                context = tf.distribute.InputContext(self.workers, index, self.workers)
                given["input_context"] = context
            function = functools.partial(input_fn, **given)
            return super(Chief, self)._dataset(function, mode)

        self.data_of, dataset = data_of, data_of(0)
        self.batch = dataset.element_spec
        return dataset

    def _iterator(self, dataset: Any, whole: bool = False) -> Any:
        current = tf.distribute.coordinator.experimental_get_current_worker_index
        create = self.coordinator.create_per_worker_dataset
        return iter(create(lambda: self.data_of(current())))

    def _tell(self, hooks: Iterable[Callback], event: str, *values: Any) -> None:
        self.watched = bool(hooks)
        super()._tell(hooks, event, *values)

    def _steps(self, iterator: Any, count: int) -> Iterator[dict[str, Any]]:
        """Has steps taken by whoever is free; yields what each shows."""
        save_steps = self.config.save_checkpoints_steps or NEVER
        done = idle = 0
        while done < count and idle < 20:
            most = self.workers if self.watched else 100
            span = min(most, count - done, save_steps - done % save_steps)
            # What a worker is handed at once is done again when the worker is lost.
            share = max(1, min(20, span // self.workers))
            taken = [
                self.coordinator.schedule(
                    self._worker_steps, (iterator, tf.constant(min(share, span - at)))
                )
                for at in range(0, span, share)
            ]
            self.coordinator.join()
            before = done
            for values in [remote.fetch() for remote in taken]:
                for index in range(len(values["loss"])):
                    done += 1
                    yield {key: value[index] for key, value in values.items()}
            # Workers whose data are over may have been faster than the others.
            idle = idle + 1 if done == before else 0

    @tf.function
    def _worker_steps(self, iterator: Any, count: Any) -> dict[str, Any]:
        """Takes steps on one worker; returns what they show."""
        step = tf.function(self._train_step).get_concrete_function(self.batch)
        shown = {
            key: tf.TensorArray(value.dtype, 0, dynamic_size=True, infer_shape=False)
            for key, value in step.structured_outputs.items()
            if self.watched or key == "loss"
        }
        taken = 0
        for batch in iterator:
            values = self._train_step(batch)
            shown = {key: one.write(taken, values[key]) for key, one in shown.items()}
            taken += 1  # noqa: SIM113 it is a tensor
            if taken >= count:
                break
        return {key: array.stack() for key, array in shown.items()}
