"""Hooks that end training by what evaluations have found."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .exporters import recorded_figures
from .hooks import SecondOrStepTimer, SessionRunArgs, SessionRunHook, StopAtStepHook
from .vocabulary import logger, v1


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """The figures of the evaluations of a directory, by step."""
    found: dict[int, dict[str, float]] = {}
    for step, figures in recorded_figures(os.path.join(eval_dir, "*.tfevents.*")):
        found.setdefault(step, {}).update(figures)
    return dict(sorted(found.items()))


class EarlyStoppingHook(SessionRunHook):
    """Asks now and then whether to stop; that it was stopped is in the checkpoint."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self.should_stop_fn = should_stop_fn
        self.timer = SecondOrStepTimer(
            every_secs=run_every_secs, every_steps=run_every_steps
        )

    def begin(self) -> None:
        """Makes the variable that says so."""
        self.step = v1.train.get_global_step()
        with v1.variable_scope("signal_early_stopping", reuse=v1.AUTO_REUSE):
            stop = v1.get_variable(
                "STOP",
                shape=[],
                dtype=tf.bool,
                initializer=v1.zeros_initializer(),
                trainable=False,
            )
        self.stop = stop.assign(True, read_value=False)

    def before_run(self, run_context: Any) -> Any:
        """Asks for the step."""
        return SessionRunArgs(self.step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops if it is time to ask and time to stop."""
        step = run_values.results
        if not self.timer.should_trigger_for_step(step):
            return
        self.timer.update_last_triggered_step(step)
        if self.should_stop_fn():
            logger.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self.stop)
            run_context.request_stop()


def make_early_stopping_hook(
    estimator: Any,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends training once `should_stop_fn` says so."""
    if not hasattr(estimator, "eval_dir"):
        raise TypeError(f"`estimator` must have type `Estimator`. Got: {estimator}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError(
            "Only one of `run_every_secs` and `run_every_steps` must be set."
        )
    return EarlyStoppingHook(should_stop_fn, run_every_secs, run_every_steps)


def make_stop_at_checkpoint_step_hook(
    estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """A hook that stops at a step."""
    del estimator, wait_after_file_check_secs
    return StopAtStepHook(last_step=last_step)


def recorded_metric(
    eval_dir: str, metric_name: str, min_steps: int
) -> list[tuple[int, float]]:
    """A metric of each evaluation from a step on."""
    return [
        (step, figures[metric_name])
        for step, figures in read_eval_metrics(eval_dir).items()
        if step >= min_steps
    ]


def crosses_threshold(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None,
    min_steps: int,
    is_beyond: Callable[[float, float], bool],
) -> Callable[[], bool]:
    """Whether an evaluation's metric has been beyond a threshold."""
    directory = eval_dir or estimator.eval_dir()

    def should_stop() -> bool:
        for step, value in recorded_metric(directory, metric_name, min_steps):
            if is_beyond(value, threshold):
                logger.info(
                    'At step %s, metric "%s" has value %s which is beyond the '
                    "configured threshold (%s) for early stopping.",
                    step,
                    metric_name,
                    value,
                    threshold,
                )
                return True
        return False

    return should_stop


def gets_no_better(
    estimator: Any,
    metric_name: str,
    max_steps: int,
    eval_dir: str | None,
    min_steps: int,
    is_better: Callable[[float, float], bool],
) -> Callable[[], bool]:
    """Whether the best evaluation is so many steps ago."""
    directory = eval_dir or estimator.eval_dir()

    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, value in recorded_metric(directory, metric_name, min_steps):
            if best is None or is_better(value, best[1]):
                best = step, value
            if step - best[0] >= max_steps:
                logger.info(
                    'Metric "%s" is no better for %s steps, which is greater than or '
                    "equal to max steps (%s) configured for early stopping.",
                    metric_name,
                    step - best[0],
                    max_steps,
                )
                return True
        return False

    return should_stop


def stop_if_higher_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once an evaluation's metric is above a threshold."""
    condition = crosses_threshold(
        estimator, metric_name, threshold, eval_dir, min_steps, operator.gt
    )
    return make_early_stopping_hook(
        estimator, condition, run_every_secs, run_every_steps
    )


def stop_if_lower_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once an evaluation's metric is below a threshold."""
    condition = crosses_threshold(
        estimator, metric_name, threshold, eval_dir, min_steps, operator.lt
    )
    return make_early_stopping_hook(
        estimator, condition, run_every_secs, run_every_steps
    )


def stop_if_no_increase_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once a metric has not gone up for so many steps."""
    condition = gets_no_better(
        estimator,
        metric_name,
        max_steps_without_increase,
        eval_dir,
        min_steps,
        operator.gt,
    )
    return make_early_stopping_hook(
        estimator, condition, run_every_secs, run_every_steps
    )


def stop_if_no_decrease_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once a metric has not gone down for so many steps."""
    condition = gets_no_better(
        estimator,
        metric_name,
        max_steps_without_decrease,
        eval_dir,
        min_steps,
        operator.lt,
    )
    return make_early_stopping_hook(
        estimator, condition, run_every_secs, run_every_steps
    )
