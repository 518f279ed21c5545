"""Evaluation during training, from the variables in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from .checks import checked_hooks

__all__ = ["InMemoryEvaluatorHook"]


class InMemoryEvaluatorHook(tf.train.SessionRunHook):
    """Evaluates before, every ``every_n_iter`` steps and after training.

    The evaluation graph gets the training session's values directly, so no
    checkpoint is written or read for it. For a single machine; a custom saver
    or saveables that are not variables are refused.
    """

    def __init__(
        self,
        estimator: Any,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError(
                "InMemoryEvaluator supports only single machine (aka Local) setting."
            )
        self._estimator = estimator
        self._input_fn = input_fn
        self._hooks = checked_hooks(hooks)
        self._hooks.extend(estimator._convert_eval_steps_to_hooks(steps))
        self._eval_dir = os.path.join(
            estimator.model_dir, f"eval_{name}" if name else "eval"
        )
        self._timer = tf.train.SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the evaluation graph, in a graph of its own."""
        self._timer.reset()
        self._iterations = 0
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._evaluation = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks, None
            )
            scaffold = self._evaluation.scaffold
            if scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._evaluation_variables = _global_variables()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluates the model as it is before the first step."""
        if tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global "
                "variables."
            )
        trained = _global_variables()
        shared = sorted(set(trained) & set(self._evaluation_variables))
        self._sources = {name: trained[name] for name in shared}
        with self._graph.as_default(), self._estimator._evaluation_scope():
            self._placeholders = {
                name: tf.placeholder(self._evaluation_variables[name].dtype.base_dtype)
                for name in shared
            }
            self._copy_op = tf.group(
                *(
                    self._evaluation_variables[name].assign(self._placeholders[name])
                    for name in shared
                )
            )
        self._evaluate(session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluates when it is time."""
        self._iterations += 1
        if self._timer.should_trigger_for_step(self._iterations):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluates the final model."""
        self._evaluate(session)

    def _evaluate(self, training_session: Any) -> None:
        values = training_session.run(self._sources)
        feed = {self._placeholders[name]: value for name, value in values.items()}

        def copy_values(scaffold: Any, session: Any) -> None:
            session.run(self._copy_op, feed_dict=feed)

        with self._graph.as_default():
            scaffold = tf.train.Scaffold(
                init_fn=copy_values, copy_from_scaffold=self._evaluation.scaffold
            )
            self._estimator._evaluate_run(
                None, *self._evaluation._replace(scaffold=scaffold), self._eval_dir
            )
        self._timer.update_last_triggered_step(self._iterations)


def _global_variables() -> dict[str, Any]:
    return {v.name: v for v in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)}
