"""Workers that take each step together."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from . import cluster
from .callbacks import Callback
from .cluster import RunConfig, with_context
from .replicas_callbacks import Trainer


class ClusterTrainer(cluster.ClusterTrainer):
    """A trainer that trains with other tasks, and does all else alone."""

    def _join(self, config: RunConfig) -> tuple[Any, Any]:
        """Returns what trains in this task, and its settings."""
        if config.strategy is None and config.cluster_spec:
            raise ValueError("A cluster needs a MultiWorkerMirroredStrategy.")
        return Worker, config


class Worker(Trainer):
    """One of the workers that take each step together."""

    def __init__(
        self, make_task: Any, model_dir: str, config: Any, *more: Any, **others: Any
    ) -> None:
        jobs = config.cluster_spec.as_dict()
        chiefs = len(jobs.get("chief", ()))
        self.workers = chiefs + len(jobs.get("worker", ())) or 1
        self.index = config.task_id + (chiefs if config.task_type == "worker" else 0)
        self.shared_dir = model_dir
        # Their clocks differ, so all save after steps.
        save_steps = config.save_checkpoints_steps or 1000
        config = dataclasses.replace(config, save_checkpoints_steps=save_steps)
        own_dir = f"{model_dir}/tmp_{self.index}" if self.index else model_dir
        super().__init__(make_task, own_dir, config, *more, **others)
        self.replicas = self.strategy.num_replicas_in_sync // self.workers

    def latest_checkpoint(self) -> Any:
        """Returns the path of the newest checkpoint, which all have seen."""
        path = tf.train.latest_checkpoint(self.shared_dir)
        self._sum(0.0)  # nobody saves another one before all have looked
        return path

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """Trains with all others; only the first one keeps what it saves."""
        if self.index:
            kwargs.pop("saving_listeners", None)
        try:
            return super().train(*args, **kwargs)
        finally:
            if self.index and tf.io.gfile.exists(self.model_dir):
                tf.io.gfile.rmtree(self.model_dir)

    def _save(self, step: int) -> None:
        # All save, because what is saved may be a mean over all; one file is kept.
        super()._save(step)
        self._sum(0.0)  # the first worker has saved

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        context = self.workers, self.index, self.strategy.num_replicas_in_sync
        return super()._dataset(with_context(input_fn, *context), mode)

    def _iterator(self, dataset: Any, whole: bool = False) -> Any:
        self.batches = iter(dataset)
        return self.batches

    def _steps(self, iterator: Any, count: int) -> Iterator[dict[str, Any]]:
        """Takes steps of a batch for each replica; yields what each shows."""
        specs = [iterator.element_spec] * self.replicas
        train_step = self._train.get_concrete_function(specs)
        while True:
            values = train_step(self.batch)
            yield {key: value.numpy() for key, value in values.items()}

    def _train_step(self, batch: Any) -> Any:
        def given(context: Any) -> Any:
            return batch[context.replica_id_in_sync_group % self.replicas]

        give = self.strategy.experimental_distribute_values_from_function
        return super()._train_step(give(given))

    def _tell(self, hooks: Any, event: str, *values: Any) -> None:
        """Calls callbacks; who is stopped, or has no more data, stops all."""
        super()._tell(hooks, event, *values)
        if event in ("begin", "after_step"):
            self.batch = [*itertools.islice(self.batches, self.replicas)]
            over = len(self.batch) < self.replicas
            if self._sum(float(over or any(hook.should_stop for hook in hooks))) > 0:
                hooks.append(Callback())
                hooks[-1].should_stop = True

    @tf.function(input_signature=[tf.TensorSpec([])])
    def _sum(self, value: Any) -> Any:
        """Returns the sum of a figure over all replicas, when all have given theirs."""
        values = self.strategy.run(tf.identity, args=(value,))
        return self.strategy.reduce("SUM", values, axis=None)
