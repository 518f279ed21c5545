"""Values that callbacks see of a step, besides its loss."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import core


class Task(core.Task):
    """A task that shows more of a step than its loss."""

    def watch(self, features: Any, labels: Any, outputs: Any) -> dict[str, Any]:
        """Returns what callbacks see of a step, besides its loss."""
        return {}

    def train_step(self, features: Any, labels: Any) -> dict[str, Any]:
        """Trains on a batch; returns what there is to see of it."""
        with tf.GradientTape() as tape:
            outputs = self.forward(features, training=True)
            loss = self.loss(features, labels, outputs)
        gradients = self.gradients_of(loss, tape)
        seen = self.watch(features, labels, outputs)
        self.apply_gradients(gradients)
        return {"loss": loss, **seen}
