"""Where this process stands in a cluster, read from ``TF_CONFIG``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from .task_types import TaskType

__all__ = [
    "ClusterPlace",
    "TaskType",
    "is_collective",
    "one_pass_graph_options",
    "parse_tf_config",
    "session_config_for_task",
]


# What the collective strategies are called in all generations, and their subclasses'
# bases with them.
_COLLECTIVE = ("MultiWorkerMirrored", "CollectiveAllReduce")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClusterPlace:
    """Everything ``TF_CONFIG`` decides about this process."""

    cluster_spec: Any
    task_type: str
    task_id: int
    master: str
    evaluation_master: str
    is_chief: bool
    num_ps_replicas: int
    num_worker_replicas: int
    global_id_in_cluster: int | None
    service: dict[str, Any] | None


def is_collective(strategy: Any) -> bool:
    """Whether workers of this strategy train in step, without a chief session."""
    return isinstance(strategy, (tf.distribute.Strategy, tf2.distribute.Strategy)) and (
        any(base.__name__.startswith(_COLLECTIVE) for base in type(strategy).__mro__)
    )


def one_pass_graph_options() -> Any:
    """Runs the graph optimiser once, as Estimators always did."""
    return tf.GraphOptions(
        rewrite_options=rewriter_config_pb2.RewriterConfig(
            meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE
        )
    )


def session_config_for_task(task_type: str, task_id: int) -> Any:
    """A process talks to parameter servers and to itself, to nobody else.

    Without the filters a worker would wait for every other worker at start.
    """
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(task_type)
    if filters is None:
        return None
    return tf.ConfigProto(
        allow_soft_placement=True,
        graph_options=one_pass_graph_options(),
        device_filters=filters,
    )


def parse_tf_config(
    tf_config: Mapping[str, Any], *, has_strategy: bool = False
) -> ClusterPlace:
    """Reads and checks the whole of ``TF_CONFIG``.

    ``has_strategy`` says that a strategy trains: its clusters may consist of workers
    only, whose first acts as chief, and may leave the task out, which is this
    process' own affair then.
    """
    service = tf_config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            f'If "service" is set in TF_CONFIG, it must be a dict. '
            f"Given {type(service)}"
        )
    spec = tf.train.ClusterSpec(tf_config.get("cluster") or {})
    task = tf_config.get("task") or {}
    if not spec:
        return _alone(tf_config, task, service)

    jobs = spec.jobs
    chief_type = TaskType.MASTER if TaskType.MASTER in jobs else TaskType.CHIEF
    if chief_type == TaskType.MASTER and TaskType.CHIEF in jobs:
        raise ValueError(
            "If `master` node exists in `cluster`, job `chief` is not supported."
        )
    if has_strategy and chief_type != TaskType.MASTER:
        if not task:
            return dataclasses.replace(
                _alone(tf_config, {}, service), cluster_spec=spec
            )
        if chief_type not in jobs and TaskType.WORKER in jobs:
            chief_type = TaskType.WORKER
    task_type, task_id = _checked_task(spec, task, chief_type)
    if task_type == TaskType.EVALUATOR:
        if chief_type == TaskType.MASTER:
            raise ValueError(
                "If `master` node exists in `cluster`, task_type `evaluator` is not "
                "supported."
            )
        # The evaluator stands outside: it only reads checkpoints.
        return ClusterPlace(
            cluster_spec=tf.train.ClusterSpec({}),
            task_type=task_type,
            task_id=task_id,
            master="",
            evaluation_master=tf_config.get("eval_session_master", ""),
            is_chief=False,
            num_ps_replicas=0,
            num_worker_replicas=0,
            global_id_in_cluster=None,
            service=service,
        )
    members = spec.as_dict()
    return ClusterPlace(
        cluster_spec=spec,
        task_type=task_type,
        task_id=task_id,
        master=_session_master(spec, task_type, task_id, tf_config),
        evaluation_master="",
        is_chief=task_type == chief_type and (task_id == 0),
        num_ps_replicas=len(members.get(TaskType.PS, [])),
        num_worker_replicas=sum(
            len(members.get(job, [])) for job in {TaskType.WORKER, chief_type}
        ),
        global_id_in_cluster=_global_id(spec, task_type, task_id, chief_type),
        service=service,
    )


def _alone(
    tf_config: Mapping[str, Any],
    task: Mapping[str, Any],
    service: dict[str, Any] | None,
) -> ClusterPlace:
    task_type = task.get("type", TaskType.WORKER)
    task_id = int(task.get("index", 0))
    if task_type != TaskType.WORKER:
        raise ValueError(
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER.'
        )
    if task_id != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return ClusterPlace(
        cluster_spec=tf.train.ClusterSpec({}),
        task_type=task_type,
        task_id=0,
        master=tf_config.get("session_master", ""),
        evaluation_master=tf_config.get("eval_session_master", ""),
        is_chief=True,
        num_ps_replicas=0,
        num_worker_replicas=1,
        global_id_in_cluster=0,
        service=service,
    )


def _checked_task(
    spec: Any, task: Mapping[str, Any], chief_type: str
) -> tuple[str, int]:
    if chief_type not in spec.jobs:
        raise ValueError(
            f'If "cluster" is set in TF_CONFIG, it must have one "{chief_type}" node.'
        )
    if chief_type != TaskType.WORKER and len(spec.job_tasks(chief_type)) > 1:
        raise ValueError(
            f'The "cluster" in TF_CONFIG must have only one "{chief_type}" node.'
        )
    task_type, task_id = task.get("type"), task.get("index")
    if not task_type:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task_id is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_id = int(task_id)
    if task_id < 0:
        raise ValueError("Task index must be non-negative number.")
    if task_type == TaskType.EVALUATOR:
        return task_type, task_id
    source = (
        "Note that these values may be coming from the TF_CONFIG environment variable."
    )
    if task_type not in spec.jobs:
        raise ValueError(
            f"{task_type} is not a valid task_type in the cluster_spec:\n{spec}\n\n"
            + source
        )
    if task_id >= len(spec.job_tasks(task_type)):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the "
            f"cluster_spec:\n{spec}\n\n" + source
        )
    return task_type, task_id


def _session_master(
    spec: Any, task_type: str, task_id: int, tf_config: Mapping[str, Any]
) -> str:
    if "session_master" in tf_config:
        return str(tf_config["session_master"])
    jobs = spec.jobs
    if len(jobs) == 1 and len(spec.job_tasks(jobs[0])) == 1:
        # One node alone needs no server.
        return ""
    return "grpc://" + str(spec.job_tasks(task_type)[task_id])


def _global_id(spec: Any, task_type: str, task_id: int, chief_type: str) -> int:
    between = sorted(j for j in spec.jobs if j not in (chief_type, TaskType.PS))
    order = [chief_type, *between]
    if TaskType.PS in spec.jobs:
        order.append(TaskType.PS)
    before = order[: order.index(task_type)]
    return int(task_id + sum(len(spec.job_tasks(job)) for job in before))
