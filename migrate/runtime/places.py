"""Where the replicas of a model are."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def replicas_here(strategy: Any) -> int:
    """How many of the replicas are in this process."""
    if strategy is None or strategy.num_replicas_in_sync == 1:
        return 1  # TensorFlow's strategy of a program without one knows no devices.
    return len(strategy.extended.worker_devices)


def check_replicas_are_here(strategy: Any) -> None:
    """Raises where some are in other processes."""
    if strategy and strategy.num_replicas_in_sync > replicas_here(strategy):
        raise ValueError(
            f"{type(strategy).__name__} has replicas in other processes: use "
            "MultiWorkerMirroredStrategy of this module, which the loop knows."
        )


def check_devices(strategy: Any) -> None:
    """Raises where a strategy of several devices names some that are not here.

    Its replicas would end up on one device and wait for each other for ever. A lone
    replica takes the device that there is.
    """
    if strategy is None or strategy.num_replicas_in_sync == 1:
        return
    here = {(d.device_type, d.name[-1:]) for d in tf.config.list_logical_devices()}
    missing = []
    for device in strategy.extended.worker_devices:
        spec = tf.DeviceSpec.from_string(device)
        if (spec.device_type, str(spec.device_index or 0)) not in here:
            missing.append(device)
    if missing:
        raise ValueError(
            f"The strategy names devices that this machine does not have: "
            f"{', '.join(missing)}. tf.distribute.MirroredStrategy() without devices "
            "takes what is there."
        )


def check_alone(config: Any) -> None:
    """Raises where TF_CONFIG names others, of whom this loop would know nothing."""
    if config.others:
        raise ValueError(
            f"TF_CONFIG makes this one of a cluster with {config.others} more tasks "
            "that train or serve. This loop trains in one process. Rewrite the program "
            "with `--strategy multiworker` for workers in step, or `--strategy "
            "parameter_server` for a cluster with ps."
        )
