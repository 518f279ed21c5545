"""Small legacy functions whose modern form is a line or two."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["list_device_names"]


def list_device_names() -> list[str]:
    """``tf.config.experimental_list_devices`` of TF 1.15: full device names."""
    return [device.name for device in tf.config.list_logical_devices()]
