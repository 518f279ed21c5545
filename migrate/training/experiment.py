"""Experiments of tf.contrib.learn, whose schedules are called by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import core
from .specs import train_and_evaluate


class Experiment:
    """A trainer, and what it is trained and evaluated on."""

    def __init__(self, trainer: core.Trainer, train_spec: Any, eval_spec: Any) -> None:
        self.trainer, self.train_spec, self.eval_spec = trainer, train_spec, eval_spec

    def train(self) -> Any:
        """Trains to the last step."""
        return self.trainer.train(**self.train_spec._asdict())

    def evaluate(self) -> dict[str, Any]:
        """Evaluates the latest checkpoint."""
        input_fn, steps, _, hooks, *_ = self.eval_spec
        given = [hooks] if hooks else []
        return self.trainer.evaluate(input_fn, steps, *given, name="one_pass")

    def train_and_evaluate(self) -> tuple[Any, Any]:
        """Trains, and evaluates checkpoints; returns the last figures."""
        return train_and_evaluate(self.trainer, self.train_spec, self.eval_spec)


def run_experiment(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an experiment and calls the method that the schedule names."""
    if output_dir is None:
        experiment = experiment_fn(run_config, hparams)
    else:
        experiment = experiment_fn(output_dir=output_dir)
    return getattr(experiment, schedule or "train_and_evaluate")()
