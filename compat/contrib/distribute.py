"""``tf.contrib.distribute``: the strategies of TF 1.8-1.15 on today's ones.

Every strategy here is a V2 strategy of TensorFlow; what is added is the old
constructor arguments and the names of the tower era (TF 1.11 and 1.12).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from ..engine import arrays, private_api
from ..engine.devices import map_device, replica_devices, replica_stand_ins
from ..surface.unavailable import Unavailable

__all__ = [
    "AllReduceCrossDeviceOps",
    "AllReduceCrossTowerOps",
    "CollectiveAllReduceStrategy",
    "CrossDeviceOps",
    "CrossTowerOps",
    "DistributeConfig",
    "DistributionStrategy",
    "MirroredStrategy",
    "Monitor",
    "MultiWorkerAllReduce",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReductionToOneDeviceCrossTowerOps",
    "ReplicaContext",
    "StandardInputStep",
    "StandardSingleLossStep",
    "Step",
    "TPUStrategy",
    "TowerContext",
    "UpdateContext",
    "get_cross_replica_context",
    "get_cross_tower_context",
    "get_distribution_strategy",
    "get_loss_reduction",
    "get_replica_context",
    "get_strategy",
    "get_tower_context",
    "has_distribution_strategy",
    "has_strategy",
    "in_cross_replica_context",
    "initialize_tpu_system",
    "require_replica_context",
    "require_tower_context",
    "run_standard_tensorflow_server",
]

_v2: Any = tf.compat.v2.distribute

DistributionStrategy = _v2.Strategy
ReplicaContext = _v2.ReplicaContext
CrossDeviceOps = CrossTowerOps = _v2.CrossDeviceOps
Step = private_api.step_fn.Step
StandardInputStep = private_api.step_fn.StandardInputStep
StandardSingleLossStep = private_api.step_fn.StandardSingleLossStep
UpdateContext = private_api.UpdateContext

get_loss_reduction = tf.distribute.get_loss_reduction
get_replica_context = tf.distribute.get_replica_context
get_strategy = tf.distribute.get_strategy
has_strategy = tf.distribute.has_strategy
in_cross_replica_context = tf.distribute.in_cross_replica_context
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy


class DistributeConfig(NamedTuple):
    """Strategies of training and evaluation, for ``RunConfig``."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


# -- strategies ------------------------------------------------------------


class _TowerNames:
    """What strategies were called with before towers became replicas."""

    # The contrib strategies of TF 1.12 gave model_to_estimator the true mean
    # over replicas; later generations scaled its loss twice.
    _tfmigrate_contrib = True

    @property
    def num_towers(self) -> int:
        """Number of replicas."""
        return int(self.num_replicas_in_sync)  # type: ignore[attr-defined]

    @property
    def is_single_tower(self) -> bool:
        """Whether there is one replica only."""
        return self.num_towers == 1

    @property
    def worker_devices(self) -> Any:
        """The devices that compute."""
        return self.extended.worker_devices  # type: ignore[attr-defined]

    @property
    def parameter_devices(self) -> Any:
        """The devices that hold variables."""
        return self.extended.parameter_devices  # type: ignore[attr-defined]

    @property
    def between_graph(self) -> bool:
        """Whether every worker builds a graph of its own."""
        return bool(
            self.extended.experimental_between_graph  # type: ignore[attr-defined]
        )

    @property
    def require_static_shapes(self) -> bool:
        """Whether batches need static shapes."""
        return bool(
            self.extended.experimental_require_static_shapes  # type: ignore[attr-defined]
        )

    def call_for_each_tower(
        self, fn: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Calls ``fn`` once per replica."""
        # In TF 1.12 whether replicas' functions ran in turn; they always do now.
        kwargs.pop("run_concurrently", None)
        return self.extended.call_for_each_replica(  # type: ignore[attr-defined]
            tf.autograph.experimental.do_not_convert(fn), args=args, kwargs=kwargs
        )

    def unwrap(self, value: Any) -> Any:
        """The values of all replicas."""
        return self.experimental_local_results(value)  # type: ignore[attr-defined]

    def distribute_dataset(self, dataset_fn: Callable[[], Any]) -> Any:
        """Successive batches of the dataset go to successive replicas."""
        return _DistributedDataset(self, dataset_fn)

    def make_input_fn_iterator(self, input_fn: Callable[..., Any], **_: Any) -> Any:
        """An initializable iterator over successive batches to replicas."""
        return private_api.make_input_fn_iterator(self, input_fn)

    def configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Tells the strategy where it runs; the Estimator layer does it itself."""

    def update(self, var: Any, fn: Callable[..., Any], *args: Any, **kw: Any) -> Any:
        """Calls ``fn`` on every component of ``var``."""
        return self.extended.update(  # type: ignore[attr-defined]
            var, fn, args=args, kwargs=kw
        )

    def read_var(self, var: Any) -> Any:
        """The value of a variable made under the strategy."""
        return self.extended.read_var(var)  # type: ignore[attr-defined]

    def non_slot_devices(self, var_list: Any) -> Any:
        """Devices of variables that belong to no other variable."""
        return self.extended.non_slot_devices(var_list)  # type: ignore[attr-defined]

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """The name that ``run`` had before TF 2.2."""
        return self.run(fn, args=args, kwargs=kwargs)  # type: ignore[attr-defined]

    def experimental_make_numpy_dataset(
        self, numpy_input: Any, session: Any = None
    ) -> Any:
        """A dataset of the rows of arrays, which stay out of the graph."""
        del session
        with arrays.kept_out_of_graph():
            return tf.data.Dataset.from_tensor_slices(numpy_input)

    def initialize(self) -> list[Any]:
        """Nothing to initialise."""
        return []

    def finalize(self) -> list[Any]:
        """Nothing to finalise."""
        return []


class _DistributedDataset:
    """A dataset per input pipeline that can only be iterated."""

    def __init__(self, strategy: Any, dataset_fn: Callable[[], Any]) -> None:
        self._strategy = strategy
        self._dataset_fn = dataset_fn

    def make_initializable_iterator(self) -> Any:
        return private_api.make_input_fn_iterator(
            self._strategy, lambda _: self._dataset_fn()
        )

    def make_one_shot_iterator(self) -> Any:
        """Started together with the tables, since graphs have no other start."""
        iterator = self.make_initializable_iterator()
        tf.add_to_collection(
            tf.GraphKeys.TABLE_INITIALIZERS,
            private_api.distributed_initializer(iterator),
        )
        return iterator


def _agreed_count(num_gpus: int | None, num_gpus_per_worker: int | None) -> int | None:
    if num_gpus is not None and num_gpus_per_worker is not None:
        raise ValueError(
            "You cannot specify both `num_gpus` and `num_gpus_per_worker`."
        )
    return num_gpus if num_gpus is not None else num_gpus_per_worker


class MirroredStrategy(_TowerNames, _v2.MirroredStrategy):
    """Replicas on several devices of one machine, trained in step."""

    def __init__(
        self,
        devices: Iterable[Any] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
        prefetch_on_device: bool | None = None,
    ) -> None:
        # One machine has one input pipeline: there is nothing to shard, and
        # tf.data decides itself what it prefetches.
        del auto_shard_dataset, prefetch_on_device
        count = _agreed_count(num_gpus, num_gpus_per_worker)
        if devices is not None and count is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus`.")
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise ValueError(
                "Must only specify one of `cross_device_ops` and `cross_tower_ops`."
            )
        super().__init__(
            devices=replica_devices(num_gpus=count, devices=devices),
            cross_device_ops=cross_device_ops or cross_tower_ops,
        )


class OneDeviceStrategy(_TowerNames, _v2.OneDeviceStrategy):
    """Everything on one device."""

    def __init__(self, device: str, prefetch_on_device: bool | None = None) -> None:
        del prefetch_on_device
        super().__init__(replica_devices(devices=[device])[0])


class _LocalCollective(MirroredStrategy):
    """The collective strategy of a program that runs alone."""

    def for_cluster(self) -> Any:
        """The one for servers that the program names itself."""
        return _ClusterCollective()


class _ClusterCollective(
    _TowerNames,
    tf.distribute.experimental.MultiWorkerMirroredStrategy,
):
    """The collective strategy of one process of a cluster."""

    def __init__(self) -> None:
        # In an eager context the constructor would start a server on the port
        # that the training session's own server needs.
        with tf.Graph().as_default():
            super().__init__()

    # Told where it is by the one part of TensorFlow that runs clusters in graphs.
    configure = tf.distribute.experimental.MultiWorkerMirroredStrategy.configure


# Monitored sessions know by this name that all workers have to save.
_ClusterCollective.__name__ = "CollectiveAllReduceStrategyV1"


class _EitherCollective(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _LocalCollective | _ClusterCollective)


class CollectiveAllReduceStrategy(
    _TowerNames,
    _v2.Strategy,
    metaclass=_EitherCollective,
):
    """Workers trained in step; alone, the GPUs of this machine."""

    def __new__(cls, num_gpus_per_worker: int = 0, communication: Any = None) -> Any:
        """Chooses by ``TF_CONFIG``; ``communication`` is chosen by TensorFlow."""
        del communication
        if _has_cluster():
            return _ClusterCollective()
        return _LocalCollective(num_gpus=num_gpus_per_worker)


class ParameterServerStrategy(
    _TowerNames,
    tf.distribute.experimental.ParameterServerStrategy,
):
    """Variables on parameter servers; alone, on the CPU."""

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        if not _has_cluster():
            devices = replica_devices(num_gpus=num_gpus_per_worker)
            private_api.init_central_storage(self, devices)
            return
        if num_gpus_per_worker and not replica_stand_ins():
            replica_devices(num_gpus=num_gpus_per_worker)
        super().__init__()


TPUStrategy = Unavailable(
    "tf.contrib.distribute.TPUStrategy",
    "It needs a TPU and the session-based TPU runtime of TF 1.x: use MirroredStrategy "
    "to run this program here.",
)


def _has_cluster() -> bool:
    try:
        config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    except ValueError:
        return False
    return bool(config.get("cluster"))


# -- cross-device operations -----------------------------------------------


def AllReduceCrossDeviceOps(
    all_reduce_alg: str = "nccl",
    num_packs: int = 1,
    agg_small_grads_max_bytes: int = 0,
    agg_small_grads_max_group: int = 10,
) -> Any:
    """All-reduce by NCCL or by hierarchical copy."""
    del agg_small_grads_max_bytes, agg_small_grads_max_group
    if all_reduce_alg == "nccl":
        return _v2.NcclAllReduce(num_packs=num_packs)
    if all_reduce_alg == "hierarchical_copy":
        return _v2.HierarchicalCopyAllReduce(num_packs=num_packs)
    raise ValueError(
        f"all_reduce_alg {all_reduce_alg!r} is not known: use 'nccl' or "
        "'hierarchical_copy'."
    )


AllReduceCrossTowerOps = AllReduceCrossDeviceOps


def ReductionToOneDeviceCrossTowerOps(
    reduce_to_device: str | None = None, accumulation_fn: Any = None
) -> Any:
    """Copies to one device, reduces there."""
    device = map_device(reduce_to_device) if reduce_to_device else None
    return _v2.ReductionToOneDevice(device, accumulation_fn)


MultiWorkerAllReduce = Unavailable(
    "tf.contrib.distribute.MultiWorkerAllReduce",
    "No strategy reduces between machines inside of one graph any more: use "
    "CollectiveAllReduceStrategy, which chooses its communication itself.",
)


# -- contexts --------------------------------------------------------------


class TowerContext:
    """The replica context under its names of TF 1.12."""

    def __init__(
        self,
        distribution_strategy: Any = None,
        tower_id: Any = None,
        context: Any = None,
    ) -> None:
        if context is None:
            context = _v2.ReplicaContext(distribution_strategy, tower_id)
        self._context = context

    @property
    def tower_id(self) -> Any:
        """Index of this replica."""
        index = self._context.replica_id_in_sync_group
        static = tf.get_static_value(index) if tf.is_tensor(index) else index
        return index if static is None else int(static)

    @property
    def num_towers(self) -> int:
        """Number of replicas."""
        return int(self._context.num_replicas_in_sync)

    @property
    def is_single_tower(self) -> bool:
        """Whether there is one replica only."""
        return self.num_towers == 1

    @property
    def distribution_strategy(self) -> Any:
        """The strategy that replicates."""
        return self._context.strategy

    @property
    def device(self) -> str:
        """The device of this replica."""
        return str(self.distribution_strategy.extended.worker_devices[self.tower_id])

    def merge_call(self, merge_fn: Callable[..., Any], *args: Any, **kw: Any) -> Any:
        """Calls ``merge_fn`` once for all replicas."""
        return self._context.merge_call(merge_fn, args=args, kwargs=kw)

    def __enter__(self) -> Any:
        return self._context.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._context.__exit__(*error)


def get_tower_context() -> TowerContext | None:
    """The context of the current replica; None outside of replicas."""
    context = tf.distribute.get_replica_context()
    return None if context is None else TowerContext(context=context)


def get_cross_tower_context() -> Any:
    """The strategy when called outside of its replicas, else None."""
    if not tf.distribute.in_cross_replica_context():
        return None
    return tf.distribute.get_strategy()


get_cross_replica_context = get_cross_tower_context


def require_replica_context(replica_ctx: Any) -> None:
    """Raises unless called in the given replica context."""
    current = tf.distribute.get_replica_context()
    wanted = getattr(replica_ctx, "_context", replica_ctx)
    if current is None or current is not wanted:
        raise RuntimeError(
            "The replica context that was given is not the current one: the call "
            "belongs inside the function that the strategy replicates."
        )


require_tower_context = require_replica_context


# -- the rest --------------------------------------------------------------


class Monitor:
    """Runs a step repeatedly, in a session or eagerly."""

    def __init__(self, step_callable: Any, session: Any = None) -> None:
        if tf.executing_eagerly():
            if session is not None:
                raise ValueError("Should not provide a `session` in Eager mode.")
            self._run_step = step_callable
            return
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        session.run(step_callable.initialize())
        self._run_step = session.make_callable(step_callable())
        session.run(tf.global_variables_initializer())

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs ``num_steps`` steps, or until the data ends."""
        step = 0
        while num_steps is None or step < num_steps:
            try:
                self._run_step()
            except tf.errors.OutOfRangeError:
                break
            step += 1


def initialize_tpu_system(cluster_resolver: Any = None) -> Any:
    """Starts the TPU of a resolver."""
    return tf.tpu.experimental.initialize_tpu_system(cluster_resolver)


def run_standard_tensorflow_server(session_config: Any = None) -> Any:
    """Starts the server that ``TF_CONFIG`` describes and returns it."""
    config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    if "cluster" not in config:
        raise ValueError('"cluster" is not found in TF_CONFIG.')
    task = config.get("task")
    if not task or "type" not in task or "index" not in task:
        raise ValueError('"task" with "type" and "index" is not found in TF_CONFIG.')
    session_config = session_config or tf.ConfigProto()
    # Who numbers the collective operations of workers that train in step.
    leader = "chief" if "chief" in config["cluster"] else "worker"
    if leader not in config["cluster"]:
        raise ValueError(
            "You must have `chief` or `worker` jobs in the `cluster_spec`."
        )
    session_config.experimental.collective_group_leader = (
        f"/job:{leader}/replica:0/task:0"
    )
    # A server started in an eager context would share its devices.
    with tf.Graph().as_default():
        server = tf.train.Server(
            tf.train.ClusterSpec(config["cluster"]),
            job_name=task["type"],
            task_index=int(task["index"]),
            protocol=config.get("rpc_layer") or "grpc",
            config=session_config,
        )
        server.start()
    return server
