"""Devices that replicas run on, and logical CPUs that stand in for GPUs.

A program that asks for two GPUs can be tried on a machine without any: after
:func:`configure_replicas` every GPU it names is a logical CPU device.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "configure_replicas",
    "cpu_device_count",
    "map_device",
    "replica_devices",
    "replica_stand_ins",
]

_GPU_NAME = re.compile(r"(?:^|/)(?:device:)?gpu:(\d+|\*)", re.IGNORECASE)

# Number of logical CPU devices that stand in for GPUs; 0 means none do.
_stand_ins = 0


def configure_replicas(n: int) -> None:
    """Makes ``n`` logical CPU devices that stand in for GPUs from now on.

    Must be called before TensorFlow has started its devices, that is before
    the first operation of the process.
    """
    global _stand_ins
    if n < 1:
        raise ValueError(f"The number of replicas must be at least 1, given: {n}")
    cpu = tf.config.list_physical_devices("CPU")[0]
    present = tf.config.get_logical_device_configuration(cpu)
    if present is None or len(present) < n:
        try:
            tf.config.set_logical_device_configuration(
                cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(n)]
            )
        except RuntimeError as error:
            raise RuntimeError(
                f"Cannot provide {n} CPU replicas: TensorFlow has already started "
                "its devices. Call configure_replicas before any operation."
            ) from error
    _stand_ins = n


def replica_stand_ins() -> int:
    """How many logical CPUs stand in for GPUs; 0 when none do."""
    return _stand_ins


def map_device(device: str) -> str:
    """``device``, or the logical CPU that stands in for it."""
    if not _stand_ins:
        return device
    found = _GPU_NAME.search(device)
    if not found:
        return device
    index = 0 if found.group(1) == "*" else int(found.group(1))
    if index >= _stand_ins:
        raise ValueError(
            f"Device {device} does not exist: {_stand_ins} CPU replicas stand in for "
            f"GPUs here. Run with --replicas {index + 1} or more."
        )
    return f"/device:CPU:{index}"


def replica_devices(
    *, num_gpus: int | None = None, devices: Iterable[Any] | None = None
) -> list[str]:
    """The devices of a mirrored strategy, from what the program asked for.

    No argument means every GPU, and the CPU where there is none.
    """
    if devices is not None:
        mapped = [map_device(str(d)) for d in devices]
        _check_gpus_exist(mapped)
        return mapped
    if num_gpus == 0:
        return ["/device:CPU:0"]
    if _stand_ins:
        if num_gpus is not None and num_gpus > _stand_ins:
            raise ValueError(
                f"The program asks for {num_gpus} GPUs, and {_stand_ins} CPU replicas "
                f"stand in for GPUs here. Run with --replicas {num_gpus}."
            )
        count = _stand_ins if num_gpus is None else num_gpus
        return [f"/device:CPU:{i}" for i in range(count)]
    available = len(tf.config.list_physical_devices("GPU"))
    if num_gpus is not None and num_gpus > available:
        raise ValueError(_too_few_gpus(num_gpus, available))
    count = available if num_gpus is None else num_gpus
    return [f"/device:GPU:{i}" for i in range(count)] or ["/device:CPU:0"]


def _too_few_gpus(wanted: int, available: int) -> str:
    have = {0: "no GPU", 1: "1 GPU"}.get(available, f"{available} GPUs")
    return (
        f"The program asks for {wanted} GPUs and this machine has {have}. "
        f"`tfmigrate run --replicas {wanted}` uses {wanted} CPU replicas instead."
    )


def _check_gpus_exist(devices: Sequence[str]) -> None:
    wanted = [
        int(found.group(1))
        for found in map(_GPU_NAME.search, devices)
        if found and found.group(1) != "*"
    ]
    if not wanted or any("/job:" in d for d in devices):
        return
    available = len(tf.config.list_physical_devices("GPU"))
    if max(wanted) >= available:
        raise ValueError(_too_few_gpus(max(wanted) + 1, available))


def cpu_device_count(strategy: Any) -> int:
    """How many CPU devices a session needs to run ``strategy``."""
    if strategy is None:
        return 1
    used = [tf.DeviceSpec.from_string(d) for d in strategy.extended.worker_devices]
    used += [tf.DeviceSpec.from_string(d) for d in strategy.extended.parameter_devices]
    indices = [
        d.device_index or 0 for d in used if (d.device_type or "").upper() == "CPU"
    ]
    return max(indices, default=0) + 1
