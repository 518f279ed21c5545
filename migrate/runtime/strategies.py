"""Strategies of tf.contrib.distribute, by the arguments that they had."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf


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
    return tf.distribute.MultiWorkerMirroredStrategy()
