"""Learning rates that a program computes of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras


class Schedule(tf_keras.optimizers.schedules.LearningRateSchedule):
    """The learning rate that a function gives for a step."""

    def __init__(self, rate: Callable[[Any], Any]) -> None:
        self.rate = rate

    def __call__(self, step: Any) -> Any:
        return tf.cast(self.rate(step), tf.float32)
