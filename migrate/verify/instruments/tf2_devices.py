"""Replicas on the CPU for programs written for several GPUs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

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

    def mirrored(original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(self: Any, devices_: Any = None, cross_device_ops: Any = None) -> None:
            # NCCL has no CPU kernels; a sum over replicas is a sum anyway.
            if cross_device_ops is not None:
                cross_device_ops = tf.distribute.ReductionToOneDevice()
            original(self, devices, cross_device_ops)

        @functools.wraps(original)
        def renamed(self: Any, *args: Any, **kwargs: Any) -> None:
            if "devices" in kwargs:
                kwargs["devices_"] = kwargs.pop("devices")
            init(self, *args, **kwargs)

        return renamed

    def one_device(original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(self: Any, device: str) -> None:
            original(self, devices[0])

        return init

    def central(original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(
            self: Any, compute_devices: Any = None, parameter_device: Any = None
        ) -> None:
            original(self, devices, devices[0])

        return init

    for api in (tf.distribute, tf.compat.v1.distribute):
        for holder, name, wrap in (
            (api, "MirroredStrategy", mirrored),
            (api, "OneDeviceStrategy", one_device),
            (api.experimental, "CentralStorageStrategy", central),
        ):
            cls = getattr(holder, name)
            cls.__init__ = wrap(cls.__init__)


def _have_enough_gpus() -> None:
    """Let programs that look for their GPUs find as many as any of them asks for."""
    original = tf.config.list_logical_devices
    gpus = [tf.config.LogicalDevice(f"/device:GPU:{n}", "GPU") for n in range(_GPUS)]

    @functools.wraps(original)
    def list_logical_devices(device_type: str | None = None) -> list[Any]:
        return list(gpus) if device_type == "GPU" else list(original(device_type))

    tf.config.list_logical_devices = list_logical_devices
