"""Compiled Keras models as tasks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras

from .core import Task


class KerasTask(Task):
    """What a compiled Keras model is trained for."""

    def __init__(self, model: Any, custom_objects: Any = None) -> None:
        # A copy, made in the scope of a strategy: the model itself is not trained.
        with tf_keras.utils.custom_object_scope(custom_objects or {}):
            self.model = tf_keras.models.clone_model(model)
            self.model.compile_from_config(model.get_compile_config())
        self.model.set_weights(model.get_weights())
        self.optimizer = self.model.optimizer

    @property
    def metrics(self) -> Any:
        """The metrics that the model was compiled with."""
        return self.model.compiled_metrics.metrics

    def loss(self, features: Any, labels: Any, outputs: Any) -> Any:
        # Keras divides by the number of replicas.
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        return self.model.compute_loss(features, labels, outputs) * replicas

    def update_metrics(self, features: Any, labels: Any, outputs: Any) -> None:
        self.model.compiled_metrics.update_state(labels, outputs)

    def predictions(self, features: Any, outputs: Any) -> Any:
        return dict(zip(self.model.output_names, tf.nest.flatten(outputs)))
