"""Strategies of tf.contrib.distribute, by the arguments that they had."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import tensorflow as tf

from .apart import WorkersApart
from .together import WorkersTogether, training_tasks, waiting_for
from .vocabulary import v1
from .workers import Workers


def MirroredStrategy(
    devices: Iterable[str] | None = None,
    num_gpus: int | None = None,
    num_gpus_per_worker: int | None = None,
    cross_device_ops: Any = None,
    auto_shard_dataset: bool = False,
    cross_tower_ops: Any = None,
) -> tf.distribute.Strategy:
    """Replicas on the devices named, on a number of GPUs, or on all that there are.

    That they are there is asked for when training begins.
    """
    del auto_shard_dataset
    wanted = num_gpus if num_gpus is not None else num_gpus_per_worker
    if devices is None and wanted is not None:
        devices = [f"/gpu:{number}" for number in range(wanted)] or ["/cpu:0"]
    strategy = tf.distribute.MirroredStrategy(
        None if devices is None else list(devices), cross_device_ops or cross_tower_ops
    )
    present = tuple(device.name for device in tf.config.list_logical_devices())
    used = strategy.extended.worker_devices
    missing = [device for device in used if not device.endswith(present)]
    if wanted is not None and len(used) > 1 and missing:
        # Replicas there would wait for each other for ever; a lone one goes elsewhere.
        count = len(tf.config.list_physical_devices("GPU"))
        raise ValueError(
            f"The program asks for {wanted} GPUs and this machine has {count}. "
            "MirroredStrategy() without a number takes what is there."
        )
    return strategy


def OneDeviceStrategy(device: str) -> tf.distribute.Strategy:
    """Everything on one device."""
    return tf.distribute.OneDeviceStrategy(device)


def CollectiveAllReduceStrategy(num_gpus_per_worker: int = 0) -> tf.distribute.Strategy:
    """Workers that train in step; alone, a program is its only worker."""
    del num_gpus_per_worker
    return MultiWorkerMirroredStrategy()


def AllReduceCrossDeviceOps(
    all_reduce_alg: str = "nccl",
    num_packs: int = 1,
    agg_small_grads_max_bytes: int = 0,
    agg_small_grads_max_group: int = 10,
) -> tf.distribute.CrossDeviceOps:
    """How GPUs add up their gradients; small ones are no longer put together."""
    del agg_small_grads_max_bytes, agg_small_grads_max_group
    ways = {
        "nccl": tf.distribute.NcclAllReduce,
        "hierarchical_copy": tf.distribute.HierarchicalCopyAllReduce,
    }
    if all_reduce_alg not in ways:
        raise ValueError(
            f"all_reduce_alg is one of {', '.join(ways)}, not {all_reduce_alg!r}."
        )
    return ways[all_reduce_alg](num_packs)


class Joined:
    """The strategy with which this process has joined a cluster: once for all."""

    by_cluster: ClassVar[dict[str, tf.distribute.Strategy]] = {}


def MultiWorkerMirroredStrategy(
    *given: Any,
    cluster_resolver: Any = None,
    communication_options: Any = None,
    communication: Any = None,
) -> tf.distribute.Strategy:
    """Workers that train in step, as TF_CONFIG or a resolver names them.

    A process that is told of no others, and one that evaluates, is alone.
    """
    resolvers = tf.distribute.cluster_resolver
    options = tf.distribute.experimental.CommunicationOptions
    for one in given:  # In another order in older versions.
        if isinstance(one, resolvers.ClusterResolver):
            cluster_resolver = one
        elif isinstance(one, options):
            communication_options = one
        else:
            communication = one
    if communication is not None and communication_options is None:
        communication_options = options(implementation=communication)
    resolver = cluster_resolver or resolvers.TFConfigClusterResolver()
    tasks = training_tasks(resolver)
    if len(tasks) < 2 or resolver.task_type == "evaluator":
        nobody = resolvers.SimpleClusterResolver(v1.train.ClusterSpec({}))
        return tf.distribute.MultiWorkerMirroredStrategy(nobody, communication_options)
    name = f"{resolver.task_type} {resolver.task_id}"
    if name not in tasks:
        raise ValueError(
            f"{name} is none of {', '.join(tasks)}, the tasks that train: workers in "
            "step need a chief, workers and an evaluator at most."
        )
    key = f"{name} of {tasks}"
    if key not in Joined.by_cluster:
        with waiting_for(tasks):
            strategy = tf.distribute.MultiWorkerMirroredStrategy(
                resolver, communication_options
            )
            strategy.workers = WorkersTogether(strategy)
        Joined.by_cluster[key] = strategy
    return Joined.by_cluster[key]


class ParameterServerStrategy:
    """Workers that take steps of their own, on variables of parameter servers.

    The chief coordinates them. A process that is told of no parameter servers, and one
    that evaluates, is alone.
    """

    num_replicas_in_sync = 1

    def __init__(
        self,
        cluster_resolver: Any = None,
        variable_partitioner: Any = None,
        *,
        num_gpus_per_worker: int = 0,
    ):
        del num_gpus_per_worker
        resolvers = tf.distribute.cluster_resolver
        resolver = cluster_resolver or resolvers.TFConfigClusterResolver()
        jobs = resolver.cluster_spec().as_dict()
        self.workers = Workers(None)
        if resolver.task_type == "evaluator" or not jobs:
            return
        if not all(map(jobs.get, ("chief", "worker", "ps"))):
            raise ValueError(
                f"A cluster of {', '.join(sorted(jobs))}: a chief, workers and "
                "parameter servers (ps) need each other."
            )
        served = {name: jobs[name] for name in ("chief", "worker", "ps")}
        self.workers = WorkersApart(
            resolvers.SimpleClusterResolver(
                v1.train.ClusterSpec(served),
                task_type=resolver.task_type,
                task_id=resolver.task_id,
                rpc_layer="grpc",
            ),
            variable_partitioner,
        )
