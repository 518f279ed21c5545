"""Receivers: functions from what clients send to the features of a model."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def parsing_receiver(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Any:
    """Takes features from serialized tf.train.Examples."""
    serialized = tf.TensorSpec([default_batch_size], tf.string, "examples")

    def receive(examples: Any) -> Any:
        return tf.io.parse_example(examples, feature_spec)

    return tf.function(receive, input_signature=[serialized])


def raw_receiver(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Any:
    """Takes features as they are; these say what shapes and types examples have."""
    specs = {
        name: tf.TensorSpec([default_batch_size, *one.shape[1:]], one.dtype, name)
        for name, one in features.items()
    }
    return tf.function(lambda received: received, input_signature=[specs])
