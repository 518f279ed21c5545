"""Small legacy functions whose modern form is a line or two."""

from __future__ import annotations

import importlib
from typing import Any

import tensorflow as tf

__all__ = [
    "cosine_proximity",
    "estimator_model_fn",
    "get_registered_ops",
    "is_built_with_cuda",
    "list_device_names",
    "number_of_gpus",
    "per_image_standardization",
    "string_input_producer",
]


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """``tf.keras.losses.cosine_proximity`` of TF 1.15, where a metric was the same.

    It grows with likeness, under its other name ``cosine_similarity``, too; the loss
    of that name in TF 2 turns the sign.
    """
    y_true = tf.math.l2_normalize(y_true, axis=axis)
    y_pred = tf.math.l2_normalize(y_pred, axis=axis)
    return tf.math.reduce_sum(y_true * y_pred, axis=axis)


def estimator_model_fn(target_model_fn: Any = None) -> Any:
    """``tf.contrib.compiler.xla.estimator_model_fn``: a function to be compiled.

    It runs as it is, which changes no number; ``tf.config.optimizer.set_jit(True)`` has
    compiled what gains by it.
    """
    return estimator_model_fn if target_model_fn is None else target_model_fn


def get_registered_ops() -> dict[str, Any]:
    """What the module ``op_def_registry`` told: names and definitions of all ops."""
    registry = importlib.import_module("tensorflow.python.framework.op_def_registry")
    found = {name: registry.get(name) for name in dir(tf.raw_ops)}
    return {name: definition for name, definition in found.items() if definition}


def is_built_with_cuda() -> bool:
    """``tf.test.is_built_with_cuda``: whether this was TensorFlow for GPUs.

    Today's is on any machine, with GPUs or without: what programs want to know is the
    latter, as a layout of images that no CPU can convolve hangs on it.
    """
    return bool(tf.config.list_physical_devices("GPU"))


def list_device_names() -> list[str]:
    """``tf.config.experimental_list_devices`` of TF 1.15: full device names."""
    names = [device.name for device in tf.config.list_logical_devices()]
    here = "/job:localhost/replica:0/task:0"
    return [name if name.startswith("/job:") else here + name for name in names]


def number_of_gpus() -> int:
    """``tf.contrib.eager.num_gpus``."""
    return len(tf.config.list_logical_devices("GPU"))


def per_image_standardization(image: Any) -> Any:
    """``tf.image.per_image_standardization`` of TF 1.15: an image keeps its type.

    Integers are cut off at the ends of their type, so that half of an image of
    bytes is black. TF 1.13 gave floats, as TF 2 does: hence the warning.
    """
    with tf.name_scope("per_image_standardization"):
        image = tf.convert_to_tensor(image, name="image")
        if not image.dtype.is_floating:
            tf.get_logger().warning(
                "tf.image.per_image_standardization gives an image of %s back as %s, "
                "cut off at 0, as TensorFlow 1.14 and 1.15 did. Make it float before.",
                *(image.dtype.name, image.dtype.name),
            )
        floats = tf.image.convert_image_dtype(image, tf.float32)
        found = tf.image.per_image_standardization(floats)
        return tf.image.convert_image_dtype(found, image.dtype, saturate=True)


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> Any:
    """``tf.train.string_input_producer``, which takes a variable of names, too.

    `tf.train.match_filenames_once` gives one; today's asks it whether it is true, which
    a variable of TF 1 was, and one of TF 2 in a graph cannot say.
    """
    if isinstance(string_tensor, tf.Variable):
        string_tensor = string_tensor.read_value()
    return tf.compat.v1.train.string_input_producer(
        string_tensor, num_epochs, shuffle, seed, capacity, shared_name, name, cancel_op
    )
