"""Initial values of layer weights."""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "variance_scaling_initializer",
    "xavier_initializer",
    "xavier_initializer_conv2d",
]


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = tf.float32
) -> Any:
    """Glorot's scale, uniform or truncated normal."""
    return variance_scaling_initializer(
        factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype
    )


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = tf.float32,
) -> Any:
    """Values whose variance is ``factor`` divided by the fan of the weights.

    The normal variant is cut at two standard deviations and widened by 1.3 to
    make up for the cut, which is not what ``tf.variance_scaling_initializer``
    does (that one divides by 0.8796).
    """
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        if not dtype.is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        full = partition_info.full_shape if partition_info is not None else shape
        sizes = [float(size) for size in full]
        fan_in = sizes[-2] if len(sizes) > 1 else sizes[-1] if sizes else 1.0
        fan_out = sizes[-1] if sizes else 1.0
        for size in sizes[:-2]:
            fan_in *= size
            fan_out *= size
        fan = {"FAN_IN": fan_in, "FAN_OUT": fan_out}.get(mode, (fan_in + fan_out) / 2)
        if uniform:
            limit = math.sqrt(3.0 * factor / fan)
            return tf.random_uniform(shape, -limit, limit, dtype, seed=seed)
        stddev = math.sqrt(1.3 * factor / fan)
        return tf.truncated_normal(shape, 0.0, stddev, dtype, seed=seed)

    return initializer
