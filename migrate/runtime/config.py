"""How a program runs: directories, rhythms, strategies, and its place in a cluster."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
from collections.abc import Callable
from typing import Any, ClassVar

from .asked import CHOSEN, DISTRIBUTE_CONFIGS, PROFILES, RESUMED, TASKS
from .vocabulary import v1

NOT_GIVEN: Any = "not given"


@dataclasses.dataclass
class DistributeConfig:
    """The strategies of training and evaluation."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


@dataclasses.dataclass
class RunConfig:
    """How a model is trained.

    What says how a session, a TPU or a parameter server is set up is taken, because
    programs give it, and has no effect.
    """

    if CHOSEN:
        # What makes the strategy, where that is not for the program to say.
        chosen: ClassVar[Callable[[], Any] | None] = None
    if PROFILES:
        # What says how training goes on, where more was asked for.
        reports: ClassVar[Any] = None

    model_dir: Any = None
    tf_random_seed: int | None = None
    save_summary_steps: int | None = 100
    save_checkpoints_steps: int | None = NOT_GIVEN
    save_checkpoints_secs: float | None = NOT_GIVEN
    session_config: Any = None
    keep_checkpoint_max: int | None = 5
    keep_checkpoint_every_n_hours: float = 10000
    log_step_count_steps: int | None = 100
    train_distribute: Any = None
    device_fn: Any = None
    protocol: str | None = None
    eval_distribute: Any = None
    experimental_distribute: Any = None
    experimental_max_worker_delay_secs: float | None = None
    session_creation_timeout_secs: float = 7200
    checkpoint_save_graph_def: bool = True
    tpu_config: Any = None
    cluster: Any = None
    master: str | None = ""
    evaluation_master: str | None = ""
    if RESUMED:
        # Not of TensorFlow 1: training that goes on from a checkpoint leaves out the
        # batches that were used. For programs that train in one call, on data whose
        # order is the same each time.
        resume_data: bool = False

    def __post_init__(self) -> None:
        if self.model_dir is not None:
            self.model_dir = os.fspath(self.model_dir)
            if not self.model_dir:
                raise ValueError("model_dir should be non-empty.")
        # Every ten minutes, unless the program says otherwise; None twice is never.
        steps, seconds = self.save_checkpoints_steps, self.save_checkpoints_secs
        if steps is NOT_GIVEN and seconds is NOT_GIVEN:
            seconds = 600
        self.save_checkpoints_steps = None if steps is NOT_GIVEN else steps
        self.save_checkpoints_secs = None if seconds is NOT_GIVEN else seconds
        if None not in (self.save_checkpoints_steps, self.save_checkpoints_secs):
            raise ValueError(
                "`save_checkpoints_steps` and `save_checkpoints_secs` "
                "cannot be both set."
            )
        if DISTRIBUTE_CONFIGS and self.experimental_distribute is not None:
            given = self.experimental_distribute
            if given.remote_cluster:
                raise ValueError(
                    "This loop does not take `remote_cluster`: leave it out and start "
                    "the program as each task of the cluster, with its TF_CONFIG."
                )
            self.train_distribute = given.train_distribute or self.train_distribute
            self.eval_distribute = given.eval_distribute or self.eval_distribute
        if CHOSEN:
            make = type(self).chosen
            self.train_distribute = make() if make else self.train_distribute
        environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
        self.model_dir = self.model_dir or environment.get("model_dir")
        jobs = environment.get("cluster") or {}
        trains = sum(len(jobs.get(job, ())) for job in ("chief", "master", "worker"))
        servers = len(jobs.get("ps", ()))
        # How many tasks train, or serve those that do, beside this one.
        self.others = max(trains - 1, 0) + servers
        if TASKS:
            self.num_worker_replicas = trains or 1
            self.num_ps_replicas = servers
            task = environment.get("task") or {}
            self.cluster_spec = v1.train.ClusterSpec(jobs)
            self.task_type: str = task.get("type", "worker")
            self.task_id = int(task.get("index", 0))
            first_worker = not {"chief", "master"} & set(jobs) and self.task_id == 0
            self.is_chief = (
                not jobs
                or self.task_type in ("chief", "master")
                or (self.task_type == "worker" and first_worker)
            )
            self.global_id_in_cluster = 0 if not jobs else self.task_id

    def replace(self, **changes: Any) -> RunConfig:
        """A copy with some values replaced."""
        copied = copy.copy(self)
        for name, other in (
            ("save_checkpoints_steps", "save_checkpoints_secs"),
            ("save_checkpoints_secs", "save_checkpoints_steps"),
        ):
            if changes.get(name) is not None:
                changes.setdefault(other, None)
        for name, value in changes.items():
            if not hasattr(self, name):
                raise ValueError(f"A RunConfig has no {name}.")
            setattr(copied, name, value)
        return copied

    @property
    def saves_every(self) -> tuple[int | None, float | None]:
        """Steps and seconds between two checkpoints, at least one of them None."""
        return self.save_checkpoints_steps, self.save_checkpoints_secs
