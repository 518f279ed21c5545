"""Experiments of tf.contrib.learn: what they were, said with train_and_evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .estimator import Estimator
from .train_and_evaluate import train_and_evaluate
from .vocabulary import EvalSpec, TrainSpec


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
        del min_eval_frequency, delay_workers_by_global_step, check_interval_secs
        del train_steps_per_iteration, checkpoint_and_export
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
        spec = self.train_spec
        return self.estimator.train(
            spec.input_fn,
            hooks=spec.hooks,
            max_steps=spec.max_steps,
            saving_listeners=spec.saving_listeners,
        )

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates."""
        del delay_secs
        spec = self.eval_spec
        return self.estimator.evaluate(
            spec.input_fn, steps=spec.steps, hooks=spec.hooks, name=name
        )

    def train_and_evaluate(self) -> Any:
        """Trains, evaluating on the way."""
        return train_and_evaluate(self.estimator, self.train_spec, self.eval_spec)

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
