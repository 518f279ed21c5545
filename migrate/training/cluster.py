"""Training with the other tasks of a cluster, which TF_CONFIG names."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import socket
import time
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
            self.member().train(*args, **kwargs)
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


def lost(tasks: dict[str, str], error: Exception) -> Exception:
    """Returns an error that names the tasks that are gone."""
    time.sleep(1)  # who is ending may still listen
    gone = [f"{name} ({at})" for name, at in tasks.items() if not answers(at)]
    again = "start all tasks again, and they go on from the latest checkpoint."
    return RuntimeError(f"Lost {', '.join(gone)}: {again}") if gone else error
