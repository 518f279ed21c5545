"""Callbacks that end training by what evaluations find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import evaluation_log  # noqa: F401 what they look at
from .callbacks import Callback
from .timer import StepTimer


class StopWhen(Callback):
    """Asks every so many seconds or steps whether training should end."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        every_secs: float | None,
        every_steps: int | None,
    ) -> None:
        self.should_stop_fn = should_stop_fn
        self.timer = StepTimer(every_secs, every_steps)

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        if self.timer.should_trigger_for_step(step):
            self.timer.update_last_triggered_step(step)
            self.should_stop = self.should_stop_fn()


def make_early_stopping_hook(
    trainer: Any,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> StopWhen:
    """Ends training when a function says so."""
    return StopWhen(should_stop_fn, run_every_secs, run_every_steps)


def figures_of(
    trainer: Any, eval_dir: str | None, metric_name: str, min_steps: int
) -> list[tuple[int, float]]:
    """Returns a metric of each evaluation from a step on."""
    figures = sorted(trainer.evaluations(eval_dir).items())
    return [(step, known[metric_name]) for step, known in figures if step >= min_steps]


def stop_if_no_decrease_hook(
    trainer: Any,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> StopWhen:
    """Ends training when a metric has not gone down for so many steps."""

    def should_stop() -> bool:
        best_step, best = 0, None
        for step, value in figures_of(trainer, eval_dir, metric_name, min_steps):
            if best is None or value < best:
                best_step, best = step, value
            if step - best_step >= max_steps_without_decrease:
                return True
        return False

    return StopWhen(should_stop, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    trainer: Any,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> StopWhen:
    """Ends training when a metric has not gone up for so many steps."""

    def should_stop() -> bool:
        best_step, best = 0, None
        for step, value in figures_of(trainer, eval_dir, metric_name, min_steps):
            if best is None or value > best:
                best_step, best = step, value
            if step - best_step >= max_steps_without_increase:
                return True
        return False

    return StopWhen(should_stop, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    trainer: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> StopWhen:
    """Ends training when a metric has been below a threshold."""

    def should_stop() -> bool:
        values = figures_of(trainer, eval_dir, metric_name, min_steps)
        return any(value < threshold for _, value in values)

    return StopWhen(should_stop, run_every_secs, run_every_steps)


def stop_if_higher_hook(
    trainer: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> StopWhen:
    """Ends training when a metric has been above a threshold."""

    def should_stop() -> bool:
        values = figures_of(trainer, eval_dir, metric_name, min_steps)
        return any(value > threshold for _, value in values)

    return StopWhen(should_stop, run_every_secs, run_every_steps)
