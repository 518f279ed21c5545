"""Training with the other tasks of a cluster, which TF_CONFIG names."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from . import core
from .callbacks import Callback, Trainer
from .core import NEVER

LOST = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.FailedPreconditionError,
    tf.errors.InternalError,
    tf.errors.UnavailableError,
)


@dataclasses.dataclass(frozen=True)
class RunConfig(core.RunConfig):
    """Settings, and the task that this process is in its cluster."""

    tf_config: dict[str, Any] = dataclasses.field(
        default_factory=lambda: json.loads(os.environ.get("TF_CONFIG") or "{}")
    )

    @property
    def cluster_spec(self) -> Any:
        """The addresses of all tasks."""
        return tf.train.ClusterSpec(self.tf_config.get("cluster", {}))

    @property
    def task_type(self) -> str:
        """The job of this task: a chief, a worker, a ps or an evaluator."""
        return str(self.tf_config.get("task", {}).get("type", "worker"))

    @property
    def task_id(self) -> int:
        """The number of this task among those of its job."""
        return int(self.tf_config.get("task", {}).get("index", 0))

    @property
    def is_chief(self) -> bool:
        """Whether this is the task that saves."""
        return self.task_type in ("chief", "master") or not self.cluster_spec

    @property
    def num_worker_replicas(self) -> int:
        """The number of tasks that train."""
        return sum(map(self.count, ("chief", "master", "worker"))) or 1

    @property
    def num_ps_replicas(self) -> int:
        """The number of parameter servers."""
        return self.count("ps")

    def count(self, job: str) -> int:
        """Returns the number of tasks of a job."""
        return len(self.tf_config.get("cluster", {}).get(job, ()))


class ClusterTrainer(Trainer):
    """A trainer that trains with other tasks, and does all else alone."""

    config: Any

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        **others: Any,
    ) -> None:
        config = config or RunConfig()
        alone = dataclasses.replace(config, strategy=None)
        super().__init__(make_task, model_dir, alone, params, **others)
        self.config = config
        self.made_of = {"make_task": make_task, "params": params, **others}
        self.member: Any = None

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Callback] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[Callable[[int], Any]] | None = None,
    ) -> Trainer:
        """Trains with the others; an evaluator listens to what they save."""
        if self.config.task_type != "evaluator":
            self.member = self.member or self._member()
            self.member.train(input_fn, hooks, steps, max_steps, saving_listeners)
            return self
        for path in tf.train.checkpoints_iterator(self.model_dir):
            step = int(path.rpartition("-")[2])
            for listener in saving_listeners or ():
                listener(step)
            if step >= (max_steps or NEVER):
                break
        return self

    def _member(self) -> Trainer:
        """Makes what trains in this task."""
        raise NotImplementedError


def answers(address: str) -> bool:
    """Tells whether somebody listens there."""
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except OSError:
        return False
    return True


def lost(tasks: dict[str, str], error: Exception) -> Exception:
    """Returns the error of a task that others wait for in vain, by their names."""
    gone = [f"{name} ({at})" for name, at in tasks.items() if not answers(at)]
    again = "Start all tasks again: they go on from the latest checkpoint."
    return RuntimeError(f"Lost {' and '.join(gone)}. {again}") if gone else error
