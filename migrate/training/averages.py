"""Moving averages of the weights, which are kept beside them."""

from __future__ import annotations

from typing import Any

from . import core


class Task(core.Task):
    """A task that moves averages of its weights behind each update."""

    averages: Any  # a tf.train.ExponentialMovingAverage

    def build(self) -> None:
        """Makes the optimizer's variables and the averages, which begin as weights."""
        self.optimizer.build(self.model.trainable_variables)
        self.averages.apply(self.model.trainable_variables)


class Trainer(core.Trainer):
    """A trainer whose checkpoints have the averages."""

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        super()._prepare(features, path)
        variables = self.task.model.trainable_variables
        averages = [self.task.averages.average(one) for one in variables]
        self.checkpoint.averages = averages  # which the checkpoint may have, too
