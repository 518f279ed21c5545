"""Moving averages of the weights, which are kept beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import core


class Task(core.Task):
    """A task that may move averages of its weights behind each update."""

    averages: Any = None  # a tf.train.ExponentialMovingAverage
    averages_evaluated = False  # in the place of the weights

    def build(self) -> None:
        """Makes the optimizer's variables and the averages, which begin as weights."""
        self.optimizer.build(self.model.trainable_variables)
        if self.averages:
            self.averages.apply(self.model.trainable_variables)


class Trainer(core.Trainer):
    """A trainer whose checkpoints have the averages."""

    task: Task
    mode = ""  # of the data that come next

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        self.mode = mode
        return super()._dataset(input_fn, mode)

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        super()._prepare(features, path)
        mode, self.mode = self.mode, ""
        if self.task.averages:
            variables = self.task.model.trainable_variables
            averages = [self.task.averages.average(one) for one in variables]
            self.checkpoint.averages = averages  # which it may have restored, too
            if self.task.averages_evaluated and mode == "eval":
                # What trains next restores a checkpoint itself.
                for variable, average in zip(variables, averages):
                    variable.assign(average)
