"""A callback that evaluates checkpoints while a model trains."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import evaluating_callbacks  # noqa: F401 training goes on as it was
from .callbacks_trainer import Callback
from .core import logger


class Validation(Callback):
    """Looks every so many steps for a new checkpoint, and evaluates it.

    Ends training when no evaluation has been the best for so many steps.
    """

    def __init__(
        self,
        input_fn: Callable[..., Any],
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        self.evaluated = {"input_fn": input_fn, "steps": eval_steps, "name": name}
        self.every_n_steps, self.secs = every_n_steps, check_interval_secs or 0.0
        self.rounds, self.metric = early_stopping_rounds, early_stopping_metric
        self.sign = 1 if early_stopping_metric_minimize else -1
        self.last_step, self.time = 0, 0.0
        self.path: str | None = None
        self.best_value: Any = None
        self.best_step: Any = None

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        if step < self.last_step + self.every_n_steps:
            return
        self.last_step = step
        if time.time() - self.time <= self.secs:
            return
        self.time, path = time.time(), self.trainer.latest_checkpoint()
        if path in (None, self.path):
            return
        self.path = path
        found = self.trainer.evaluate(**self.evaluated)
        logger.info("Validation (step %d): %s", step, found)
        if self.rounds is None:
            return
        value = found[self.metric]
        if self.best_value is None or self.sign * value < self.sign * self.best_value:
            self.best_value, self.best_step = value, step
        self.should_stop = step - self.best_step >= self.rounds
