"""Evaluations while a model is trained."""

from __future__ import annotations

import time
from typing import Any

import tensorflow.compat.v1 as tf

from .base import EveryN

__all__ = ["ValidationMonitor"]


class ValidationMonitor(EveryN):
    """Evaluates new checkpoints now and then; may ask training to stop early."""

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._evaluated = {
            "x": x,
            "y": y,
            "input_fn": input_fn,
            "batch_size": batch_size,
            "steps": eval_steps,
            "metrics": metrics,
            "hooks": hooks,
            "name": name,
        }
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric
        self._minimize = early_stopping_metric_minimize
        self._interval = check_interval_secs
        self._last_look: float | None = None
        self._latest_path: str | None = None
        self._latest_step: int | None = None
        self._best: dict[str, Any] | None = None
        self._best_step: int | None = None
        self._stopped = False

    @property
    def early_stopped(self) -> bool:
        """Whether it asked training to stop."""
        return self._stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best evaluation."""
        return self._best_step

    @property
    def best_value(self) -> Any:
        """The best value of the metric that decides."""
        return None if self._best is None else self._best[self._metric]

    @property
    def best_metrics(self) -> dict[str, Any] | None:
        """The best evaluation."""
        return self._best

    def _evaluate(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._estimator.evaluate(**self._evaluated)
        return found

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Evaluates a checkpoint that is new; true if none was better for long."""
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now = time.time()
        if (
            self._interval is not None
            and self._last_look is not None
            and now - self._last_look <= self._interval
        ):
            return False
        self._last_look = now
        path = tf.train.latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            return False
        self._latest_path = path
        found = self._evaluate()
        if not found:
            return False
        tf.logging.info("Validation (step %d): %s", step, _told(found))
        if self._rounds is None:
            return False
        if self._metric not in found:
            raise ValueError(
                f"Metric {self._metric} missing from outputs {sorted(found)}."
            )
        current = found[self._metric]
        if (
            self._best is None
            or (self._minimize and current < self._best[self._metric])
            or (not self._minimize and current > self._best[self._metric])
        ):
            self._best, self._best_step = found, step
        if self._best_step is not None and step - self._best_step >= self._rounds:
            tf.logging.info(
                "Stopping. Best step: %d with %s = %s.",
                self._best_step,
                self._metric,
                self.best_value,
            )
            self._stopped = True
            return True
        return False


def _told(found: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(found.items()))
