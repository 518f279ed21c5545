"""Moving averages of the weights, kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from . import core

MEAN = tf.VariableAggregation.MEAN


class Averages(tf.Module):
    """Averages of weights; where `evaluated` says so, they take their place."""

    def __init__(self, decay: Any, evaluated: bool = False) -> None:
        super().__init__()
        self.decay, self.evaluated = decay, evaluated
        self.values: list[Any] = []

    def build(self, weights: Sequence[Any]) -> None:
        """Makes the averages, which begin as the weights do."""
        for weight in weights[len(self.values) :]:
            name = weight.name.partition(":")[0] + "/ExponentialMovingAverage"
            made = tf.Variable(weight, False, name=name, aggregation=MEAN)
            self.values.append(made)

    def update(self, weights: Sequence[Any], step: Any = None) -> None:
        """Moves the averages towards the weights, further in the first steps."""
        decay = self.decay
        if step is not None:
            step = tf.cast(step, tf.float32)
            decay = tf.minimum(decay, (1.0 + step) / (10.0 + step))
        for average, weight in zip(self.values, weights):
            average.assign_sub((1.0 - decay) * (average - weight))


class Task(core.Task):
    """A task that may have averages of its weights."""

    averages: Averages | None = None

    def build(self) -> None:
        """Makes the variables of the optimizer and of the averages."""
        super().build()
        if self.averages:
            self.averages.build(self.model.trainable_variables)


class Trainer(core.Trainer):
    """A trainer that keeps them, and may evaluate them."""

    task: Task

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
    ) -> None:
        super().__init__(make_task, model_dir, config, params)
        if self.task.averages:
            self.checkpoint.averages = self.task.averages

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables; weights are as in a checkpoint, or their averages."""
        super()._prepare(features, path)
        averages, weights = self.task.averages, self.task.model.trainable_variables
        if averages and averages.evaluated and (path or self.latest_checkpoint()):
            for weight, average in zip(weights, averages.values):
                weight.assign(average)

    def _start(self, step: int) -> None:
        """Makes what keeps checkpoints; training goes on from the weights."""
        if self.task.averages and self.latest_checkpoint():
            self.restore(self.latest_checkpoint())
        super()._start(step)
