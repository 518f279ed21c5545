"""Training with the other tasks of a cluster, which TF_CONFIG names."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import os
import socket
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from . import replicas
from .core import NEVER
from .replicas_callbacks import Trainer


@dataclasses.dataclass(frozen=True)
class RunConfig(replicas.RunConfig):
    """Settings, and the task that this process is in its cluster."""

    tf_config: str = dataclasses.field(
        default_factory=lambda: os.environ.get("TF_CONFIG") or "{}"
    )

    @property
    def cluster_spec(self) -> Any:
        return tf.train.ClusterSpec(json.loads(self.tf_config).get("cluster", {}))

    @property
    def task_type(self) -> str:
        return str(json.loads(self.tf_config).get("task", {}).get("type", "worker"))

    @property
    def task_id(self) -> int:
        return int(json.loads(self.tf_config).get("task", {}).get("index", 0))


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
        member, joined = self._join(config)
        alone = dataclasses.replace(config, strategy=None)
        super().__init__(make_task, model_dir, alone, params, **others)
        self.config = config
        given = (make_task, self.model_dir, joined, params)
        self.member = functools.cache(lambda: member(*given, **others))

    def train(self, *args: Any, **kwargs: Any) -> Trainer:
        """Trains with the others; an evaluator listens to what they save."""
        if self.config.task_type != "evaluator":
            try:
                self.member().train(*args, **kwargs)
            except tf.errors.OpError as error:
                raise lost(self.config.cluster_spec.as_dict(), error) from error
            return self
        for path in tf.train.checkpoints_iterator(self.model_dir):
            step = int(path.rpartition("-")[2])
            for listener in kwargs.get("saving_listeners", ()):
                listener(step)
            if step >= (kwargs.get("max_steps") or NEVER):
                break
        return self

    def _join(self, config: RunConfig) -> tuple[Any, Any]:
        """Returns what trains in this task, and its settings."""
        raise NotImplementedError


def answers(address: str) -> bool:
    """Tells whether somebody listens there."""
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except OSError:
        return False
    return True


def lost(jobs: dict[str, list[str]], error: Exception) -> Exception:
    """Returns an error that names the tasks that are gone, and were needed."""
    time.sleep(1)  # who is ending may still listen
    needed = ("ps",) if "ps" in jobs else ("chief", "worker")
    tasks = [(job, i, at) for job in needed for i, at in enumerate(jobs.get(job, ()))]
    gone = [f"{job} {i} ({at})" for job, i, at in tasks if not answers(at)]
    again = "start all tasks again, and they go on from the latest checkpoint."
    return RuntimeError(f"Lost {', '.join(gone)}: {again}") if gone else error


def with_context(input_fn: Callable[..., Any], *context: Any) -> Callable[..., Any]:
    """Returns an input function that is told which part of the data to read."""
    told = {"input_context": tf.distribute.InputContext(*context)}
    asks = told.keys() <= inspect.signature(input_fn).parameters.keys()
    return functools.partial(input_fn, **told) if asks else input_fn
