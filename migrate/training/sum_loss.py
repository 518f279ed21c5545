"""Losses that are summed over replicas."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import replicas


class Task(replicas.Task):
    """A task whose replicas may add their losses up."""

    summed = False  # whether the loss is a sum, which replicas add up

    def train_step(self, features: Any, labels: Any) -> dict[str, Any]:
        """Trains on the batch of one replica; returns what there is to see of it."""
        count = tf.distribute.get_strategy().num_replicas_in_sync
        with tf.GradientTape() as tape:
            outputs = self.forward(features, training=True)
            loss = self.loss(features, labels, outputs)
            loss = loss * count if self.summed else loss
            # Replicas add their gradients up: to those of their mean loss.
            share = loss / count
        gradients = self.gradients_of(share, tape)
        self.apply_gradients(gradients)
        return {"loss": loss}
