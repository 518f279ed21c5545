"""Receivers: functions from what clients send to the features of a model."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def parsing_receiver(feature_spec: dict[str, Any]) -> Any:
    """Takes features from serialized tf.train.Examples."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def receive(examples: Any) -> Any:
        return tf.io.parse_example(examples, feature_spec)

    return receive


def raw_receiver(features: dict[str, Any]) -> Any:
    """Takes features as they are; these say what shapes and types examples have."""
    specs = {
        name: tf.TensorSpec([None, *feature.shape[1:]], feature.dtype, name)
        for name, feature in features.items()
    }
    return tf.function(lambda received: received, input_signature=[specs])
