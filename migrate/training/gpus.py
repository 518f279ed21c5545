"""The GPUs of a MirroredStrategy."""

from __future__ import annotations

import tensorflow as tf


def gpus(count: int) -> list[str]:
    """Returns the names of so many GPUs, for a MirroredStrategy."""
    present = len(tf.config.list_logical_devices("GPU"))
    if count > max(present, 1):  # one that is missing is the CPU
        raise ValueError(f"{count} GPUs are asked for, and this machine has {present}.")
    return [f"/gpu:{index}" for index in range(min(count, present))] or ["/cpu:0"]
