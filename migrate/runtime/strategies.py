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
    return tf.distribute.MirroredStrategy(
        None if devices is None else list(devices), cross_device_ops or cross_tower_ops
    )


def OneDeviceStrategy(device: str) -> tf.distribute.Strategy:
    """Everything on one device."""
    return tf.distribute.OneDeviceStrategy(device)


def CollectiveAllReduceStrategy(num_gpus_per_worker: int = 0) -> tf.distribute.Strategy:
    """Workers that train in step; alone, a program is its only worker."""
    del num_gpus_per_worker
    return tf.distribute.MultiWorkerMirroredStrategy()
