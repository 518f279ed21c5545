"""Compiled Keras models as tasks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras

from .core import Task


class KerasTask(Task):
    """What a compiled Keras model is trained for."""

    def __init__(self, model: Any, custom_objects: Any = None) -> None:
        self.model, self.optimizer = model, model.optimizer
        self.custom_objects = custom_objects or {}

    def __call__(self) -> KerasTask:
        """Returns a task with a copy of the model, made in the scope of a strategy."""
        kind, known = type(self.optimizer), {**self.custom_objects}
        if not kind.__module__.startswith("tf_keras."):
            known[kind.__name__] = kind
        with tf_keras.utils.custom_object_scope(known):
            copy = tf_keras.models.clone_model(self.model)
            copy.compile_from_config(self.model.get_compile_config())
        copy.set_weights(self.model.get_weights())
        return KerasTask(copy)

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
