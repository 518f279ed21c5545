"""Evaluation in the middle of training, with the variables as they are then."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from .evaluation import EvaluationModel, evaluate_model, write_evaluation
from .hooks import SecondOrStepTimer, SessionRunArgs, SessionRunHook
from .vocabulary import ModeKeys, checked_hooks


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates now and then without a checkpoint."""

    def __init__(
        self,
        estimator: Any,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self.estimator = estimator
        self.input_fn = input_fn
        self.steps = steps
        self.hooks = checked_hooks(hooks)
        self.name = name
        self.timer = SecondOrStepTimer(every_steps=every_n_iter)
        self.iterations = 0

    def begin(self) -> None:
        """Nothing has been evaluated yet."""
        self.timer.reset()
        self.iterations = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluates the model as it is before the first step."""
        self.evaluate(session)

    def before_run(self, run_context: Any) -> Any:
        """Asks for nothing."""
        return SessionRunArgs(None)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluates when it is time."""
        self.iterations += 1
        if self.timer.should_trigger_for_step(self.iterations):
            self.evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluates the final model."""
        self.evaluate(session)

    def evaluate(self, session: Any) -> None:
        """Evaluates a model that has the values of the one in training."""
        self.timer.update_last_triggered_step(self.iterations)
        trained = session.model.variables.by_name
        estimator = self.estimator
        with tf.init_scope():
            model = EvaluationModel(
                estimator.model_call(ModeKeys.EVAL),
                estimator.bound_input_fn(self.input_fn, ModeKeys.EVAL),
                config=estimator.config,
                hooks=self.hooks,
                checkpoint=None,
                warm_start=nothing,
            )
            for name, variable in model.graph.variables.by_name.items():
                if name in trained:
                    variable.assign(trained[name].read_value())
            results = evaluate_model(model, None, self.steps)
            directory = estimator.eval_dir(self.name)
            write_evaluation(model.graph, directory, results, None)


def nothing() -> None:
    """Starts from the values that are there."""
