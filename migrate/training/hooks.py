"""Callbacks in the place of the hooks that TensorFlow 1 came with."""

from __future__ import annotations

import math
import time
from typing import Any

import tensorflow as tf

from .callbacks import Callback
from .core import NEVER, logger
from .timer import StepTimer


class StopAtStep(Callback):
    """Ends training at a step, or after so many steps."""

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None
    ) -> None:
        self.num_steps, self.last_step = num_steps, last_step

    def before_step(self, step: int) -> None:
        if self.last_step is None and self.num_steps is not None:
            self.last_step = step + self.num_steps

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        self.should_stop = self.last_step is not None and step >= self.last_step


class NanGuard(Callback):
    """Ends training when a value is not a number."""

    def __init__(self, name: str = "loss", fail_on_nan_loss: bool = True) -> None:
        self.name, self.fail_on_nan_loss = name, fail_on_nan_loss

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        if math.isnan(values[self.name]):
            if self.fail_on_nan_loss:
                raise FloatingPointError(f"{self.name} is not a number in step {step}.")
            self.should_stop = True


class LogValues(Callback):
    """Logs values of the first step, and then every so many steps or seconds."""

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
    ) -> None:
        self.names = tensors if isinstance(tensors, dict) else {n: n for n in tensors}
        self.steps, self.secs = every_n_iter or NEVER, every_n_secs or NEVER

    def begin(self) -> None:
        self.step, self.time = 0, time.time()

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        values = {"global_step": step, **values}
        self.values = {label: values[name] for label, name in self.names.items()}
        if self.step % self.steps == 0 or time.time() >= self.time + self.secs:
            self.log()
        self.step += 1

    def log(self) -> None:
        """Logs the values of the last step, and the seconds since they were logged."""
        text = ", ".join(f"{label} = {value}" for label, value in self.values.items())
        logger.info("%s (%.3f sec)", text, time.time() - self.time)
        self.time = time.time()


class StepCounter(Callback):
    """Logs how many steps a second takes."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
    ) -> None:
        self.timer = StepTimer(every_n_secs, None if every_n_secs else every_n_steps)

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        if self.timer.should_trigger_for_step(step):
            seconds, steps = self.timer.update_last_triggered_step(step)
            if seconds:
                self._log_and_record(steps or 0, seconds, step)

    def _log_and_record(
        self, elapsed_steps: int, elapsed_time: float, global_step: int
    ) -> None:
        """Logs the speed of the last steps."""
        logger.info("global_step/sec: %g", elapsed_steps / elapsed_time)


class Profiler(Callback):
    """Profiles one step every so many steps or seconds, for TensorBoard."""

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
    ) -> None:
        self.timer = StepTimer(save_secs, save_steps)
        self.output_dir = output_dir

    def begin(self) -> None:
        self.timer.reset()
        self.profiles = False

    def before_step(self, step: int) -> None:
        if self.timer.last_triggered_step() is None:
            self.timer.update_last_triggered_step(step)
        elif self.timer.should_trigger_for_step(step + 1):
            self.timer.update_last_triggered_step(step + 1)
            self.profiles = True
            tf.profiler.experimental.start(self.output_dir)

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        if self.profiles:
            self.profiles = False
            tf.profiler.experimental.stop()
