"""Replicas on the CPU for programs written for several GPUs."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from .legacy_patches import with_changed_arguments

_GPUS = 8


def use_cpu_replicas(replicas: int) -> None:
    """Make this process train on ``replicas`` logical CPUs, whatever it asks for.

    Must run before TensorFlow touches a device. Only strategies are changed:
    the number of replicas is what matters to training, not where they live.
    """
    tf.config.set_visible_devices([], "GPU")
    (cpu, *_) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(replicas)]
    )
    devices = [f"/cpu:{index}" for index in range(replicas)]
    _have_enough_gpus()

    def mirrored(values: dict[str, Any]) -> None:
        values["devices"] = devices
        # NCCL has no CPU kernels; a sum over replicas is a sum anyway.
        if values.get("cross_device_ops") is not None:
            values["cross_device_ops"] = tf.distribute.ReductionToOneDevice()

    def one_device(values: dict[str, Any]) -> None:
        values["device"] = devices[0]

    def central(values: dict[str, Any]) -> None:
        values.update(compute_devices=devices, parameter_device=devices[0])

    for api in (tf.distribute, tf.compat.v1.distribute):
        for cls, change in (
            (api.MirroredStrategy, mirrored),
            (api.OneDeviceStrategy, one_device),
            (api.experimental.CentralStorageStrategy, central),
        ):
            cls.__init__ = with_changed_arguments(cls.__init__, change)


def _have_enough_gpus() -> None:
    """Let programs that look for their GPUs find as many as any of them asks for."""
    original = tf.config.list_logical_devices
    gpus = [tf.config.LogicalDevice(f"/device:GPU:{n}", "GPU") for n in range(_GPUS)]

    @functools.wraps(original)
    def list_logical_devices(device_type: str | None = None) -> list[Any]:
        return list(gpus) if device_type == "GPU" else list(original(device_type))

    tf.config.list_logical_devices = list_logical_devices
