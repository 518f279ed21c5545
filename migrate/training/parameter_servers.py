"""Workers that take steps of their own, on variables of parameter servers."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from . import cluster
from .callbacks import Callback
from .cluster import RunConfig, answers, with_context
from .core import NEVER
from .replicas_callbacks import Trainer

LARGE = 64 << 20  # bytes of a variable; of what has more, each server keeps a part


class ClusterTrainer(cluster.ClusterTrainer):
    """A trainer that trains with other tasks, and does all else alone."""

    def _join(self, config: RunConfig) -> tuple[Any, Any]:
        """Returns what trains in this task, and its settings."""
        jobs = config.cluster_spec.as_dict()
        tasks = {"chief": jobs.pop("chief", None) or jobs.pop("master", None), **jobs}
        if jobs and not tasks["chief"]:
            raise ValueError("The cluster of TF_CONFIG has no chief.")
        if "worker" in jobs and "ps" not in jobs:
            raise ValueError("The cluster of TF_CONFIG has workers, but no ps.")
        if jobs and config.task_type not in ("chief", "master"):
            return functools.partial(Server, tasks), config
        if "worker" not in jobs:
            return Trainer, config
        strategy = strategy_of(json.dumps(tasks))  # what was made before it is lost
        return Chief, dataclasses.replace(config, strategy=strategy)


@functools.cache
def strategy_of(tasks: str) -> Any:
    """Returns the strategy of a chief, which is connected to all tasks from now on."""
    os.environ["GRPC_FAIL_FAST"] = "use_caller"  # a worker may come back
    spec = tf.train.ClusterSpec(json.loads(tasks))
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        spec, "", "chief", 0
    )
    divided = tf.distribute.experimental.partitioners.MinSizePartitioner
    parts = divided(LARGE, max_shards=spec.num_tasks("ps"))
    return tf.distribute.ParameterServerStrategy(resolver, parts)


class Server:
    """A worker, or what keeps variables: does what the chief asks for."""

    def __init__(
        self, tasks: Any, _: Any, model_dir: str, config: Any, *more: Any, **others: Any
    ) -> None:
        self.server = tf.distribute.Server(tasks, config.task_type, config.task_id)
        self.chief, self.model_dir = tasks["chief"][0], model_dir

    def train(self, *args: Any, **kwargs: Any) -> None:
        """Ends the process with the chief, which may come back while it is not done."""
        last, began, seen = kwargs.get("max_steps") or NEVER, time.time(), math.inf
        while time.time() < seen + 120:
            time.sleep(1)
            path = tf.train.latest_checkpoint(self.model_dir) or "-0"
            done = int(path.rpartition("-")[2]) >= last
            if answers(self.chief):
                seen = time.time()
            elif done and time.time() > min(seen, began + 120):
                break  # who comes late waits a while for a chief that starts
        sys.exit()


class Chief(Trainer):
    """Hands steps to workers, who may come and go, and saves."""

    config: RunConfig
    data_of: Callable[[Any], Any]

    def __init__(self, *given: Any, **others: Any) -> None:
        super().__init__(*given, **others)
        self.workers = self.config.cluster_spec.num_tasks("worker")
        self.coordinator = tf.distribute.coordinator.ClusterCoordinator(self.strategy)

    def _save(self, step: int) -> None:
        # Steps of a worker that was lost may have been taken twice.
        super()._save(self.global_step)

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        """Returns the data of the first worker; each reads its own."""
        made, workers = super()._dataset, self.workers
        self.data_of = lambda index: made(
            with_context(input_fn, workers, index, workers), mode
        )
        return self.data_of(0)

    def _iterator(self, dataset: Any, whole: bool = False) -> Any:
        current = tf.distribute.coordinator.experimental_get_current_worker_index
        create = self.coordinator.create_per_worker_dataset
        self.batch = dataset.element_spec
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
            shares = [min(share, span - at) for at in range(0, span, share)]
            given = [(iterator, tf.constant(one)) for one in shares]
            taken = [self.coordinator.schedule(self._worker_steps, g) for g in given]
            self.coordinator.join()
            idle += 1  # workers whose data are over may have been faster than others
            for values in self.coordinator.fetch(taken):
                for index in range(len(values["loss"])):
                    done, idle = done + 1, 0
                    yield {key: value[index] for key, value in values.items()}

    @tf.function
    def _worker_steps(self, iterator: Any, count: Any) -> dict[str, Any]:
        """Takes steps on one worker; returns what they show."""
        step = tf.function(self._train_step).get_concrete_function(self.batch)
        shown = {
            key: tf.TensorArray(value.dtype, 0, dynamic_size=True, infer_shape=False)
            for key, value in step.structured_outputs.items()
        }
        taken = 0
        for batch in iterator:
            values = self._train_step(batch)
            shown = {key: one.write(taken, values[key]) for key, one in shown.items()}
            taken = taken + 1
            if taken >= count:
                break
        return {key: array.stack() for key, array in shown.items()}
