"""Losses that are scaled up, so that gradients in float16 do not vanish."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras

from . import core


class Task(core.Task):
    """A task whose optimizer may ask for the gradients of a scaled loss."""

    def gradients_of(self, loss: Any, tape: Any) -> Any:
        """Returns the gradients of the trainable variables."""
        variables = self.model.trainable_variables
        if not isinstance(self.optimizer, tf_keras.mixed_precision.LossScaleOptimizer):
            return tape.gradient(loss, variables)
        scaled = tape.gradient(loss, variables, self.optimizer.loss_scale)
        return self.optimizer.get_unscaled_gradients(scaled)


def mixed_precision(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """Lets GPUs compute in float16; returns the optimizer of a scaled loss."""
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    scale = {"dynamic": False, "initial_scale": loss_scale}
    given = {} if loss_scale == "dynamic" else scale
    return tf_keras.mixed_precision.LossScaleOptimizer(opt, **given)
