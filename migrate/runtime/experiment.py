"""Experiments of tf.contrib.learn: what they were, said with train_and_evaluate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from .estimator import Estimator
from .hooks import CheckpointSaverListener
from .vocabulary import EvalSpec, TrainSpec


class EvaluateNewCheckpoints(CheckpointSaverListener):
    """Evaluates what an experiment saves on its way, the first checkpoint included.

    Not oftener than every so many steps, and not so soon after the last time; the
    checkpoint that training ends with is evaluated after it.
    """

    def __init__(self, experiment: Experiment, every_steps: int, every_secs: float):
        self.experiment = experiment
        self.every_steps, self.every_secs = every_steps, every_secs
        self.looked_step, self.looked_at = 0, float("-inf")

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Evaluates if it is time."""
        # Monitors looked for new checkpoints after steps, and so not before the first.
        step = max(global_step_value, 1)
        last = self.experiment.train_spec.max_steps
        if step < self.looked_step + self.every_steps or (last and step >= last):
            return
        self.looked_step = step
        if time.time() - self.looked_at > self.every_secs:
            self.looked_at = time.time()
            self.experiment.evaluate()


class Experiment:
    """A model with what it is trained and evaluated on."""

    def __init__(
        self,
        estimator: Estimator,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Iterable[Any] | None = None,
        eval_hooks: Iterable[Any] | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Iterable[Any] | None = None,
        check_interval_secs: float = 5,
    ):
        del delay_workers_by_global_step, train_steps_per_iteration
        del checkpoint_and_export
        if eval_metrics:
            raise ValueError(
                "eval_metrics belong to estimators of tf.contrib.learn: return them as "
                "eval_metric_ops from the model function."
            )
        if export_strategies:
            raise ValueError(
                "export_strategies belong to estimators of tf.contrib.learn: call "
                "export_saved_model, or give an EvalSpec exporters."
            )
        self.estimator = estimator
        self.eval_every_steps = 1 if min_eval_frequency is None else min_eval_frequency
        self.eval_every_secs = check_interval_secs
        self.train_spec = TrainSpec(
            train_input_fn, train_steps, train_monitors, saving_listeners
        )
        self.eval_spec = EvalSpec(
            eval_input_fn,
            steps=eval_steps,
            hooks=eval_hooks,
            start_delay_secs=eval_delay_secs,
            throttle_secs=continuous_eval_throttle_secs,
        )

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains."""
        del delay_secs
        return self.train_with([])

    def train_with(self, listeners: list[CheckpointSaverListener]) -> Any:
        """Trains, with more that happens when a checkpoint is saved."""
        spec = self.train_spec
        return self.estimator.train(
            spec.input_fn,
            hooks=spec.hooks,
            max_steps=spec.max_steps,
            saving_listeners=[*spec.saving_listeners, *listeners],
        )

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates."""
        del delay_secs
        spec = self.eval_spec
        return self.estimator.evaluate(
            spec.input_fn, steps=spec.steps, hooks=spec.hooks, name=name
        )

    def train_and_evaluate(self) -> Any:
        """Trains, evaluating on the way and at the end; gives the last figures."""
        on_the_way = []
        if self.eval_every_steps:
            on_the_way.append(
                EvaluateNewCheckpoints(
                    self, self.eval_every_steps, self.eval_every_secs
                )
            )
        self.train_with([*on_the_way])
        return self.evaluate(), []

    def test(self) -> Any:
        """One step of training and one of evaluation."""
        self.estimator.train(self.train_spec.input_fn, steps=1)
        return self.estimator.evaluate(
            self.eval_spec.input_fn, steps=1, hooks=self.eval_spec.hooks
        )


def run_experiment(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """As `learn_runner.run`: makes an experiment and does what the schedule says."""
    if run_config is not None:
        experiment = experiment_fn(run_config, hparams)
    else:
        experiment = experiment_fn(output_dir)
    return getattr(experiment, schedule or "train_and_evaluate")()


class learn_runner:
    """`learn_runner.run`, under the name of its module."""

    run = staticmethod(run_experiment)
