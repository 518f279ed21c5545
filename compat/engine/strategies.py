"""``tf.distribute`` strategies that find the stand-ins of missing GPUs.

They are TensorFlow's own; only device names go through the map of
:mod:`.devices`, which changes nothing unless logical CPUs stand in for GPUs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from . import private_api
from .devices import replica_devices, replica_stand_ins

__all__ = [
    "MirroredStrategy",
    "MirroredStrategyV1",
    "OneDeviceStrategy",
    "OneDeviceStrategyV1",
    "ParameterServerStrategyV1",
    "enter_cluster",
]


def _mapped(devices: Iterable[Any] | None) -> list[str] | None:
    if devices is None:
        return replica_devices() if replica_stand_ins() else None
    return replica_devices(devices=devices)


class MirroredStrategy(tf.compat.v2.distribute.MirroredStrategy):
    """Replicas on several devices of one machine, trained in step."""

    def __init__(
        self, devices: Iterable[Any] | None = None, cross_device_ops: Any = None
    ) -> None:
        super().__init__(_mapped(devices), cross_device_ops)


class MirroredStrategyV1(tf.distribute.MirroredStrategy):
    """The same with the methods that TF 1.x strategies had."""

    def __init__(
        self, devices: Iterable[Any] | None = None, cross_device_ops: Any = None
    ) -> None:
        super().__init__(_mapped(devices), cross_device_ops)

    # What 1.14 and 1.15 called it.
    experimental_run_v2 = tf.distribute.Strategy.run


class OneDeviceStrategy(tf.compat.v2.distribute.OneDeviceStrategy):
    """Everything on one device."""

    def __init__(self, device: str) -> None:
        super().__init__(replica_devices(devices=[device])[0])


class OneDeviceStrategyV1(tf.distribute.OneDeviceStrategy):
    """The same with the methods that TF 1.x strategies had."""

    def __init__(self, device: str) -> None:
        super().__init__(replica_devices(devices=[device])[0])

    experimental_run_v2 = tf.distribute.Strategy.run


class ParameterServerStrategyV1(tf.distribute.experimental.ParameterServerStrategy):
    """Variables on parameter servers where a cluster trains, before that on the CPU.

    As in TF 1.15 it does not look at ``TF_CONFIG`` when it is made.
    """

    def __init__(self, cluster_resolver: Any = None) -> None:
        if cluster_resolver is None:
            private_api.init_central_storage(self, replica_devices())
        else:
            super().__init__(cluster_resolver)

    experimental_run_v2 = tf.distribute.Strategy.run


def enter_cluster(strategy: Any, config: Any) -> None:
    """Lets a strategy that knows no cluster yet train as a task of ``config``'s."""
    if isinstance(strategy, ParameterServerStrategyV1):
        private_api.place_on_servers(
            strategy, config.cluster_spec, config.task_type, config.task_id
        )
