"""Early stopping by the metrics that evaluations leave in event files."""

from __future__ import annotations

import collections
import operator
import os
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from . import cluster

__all__ = [
    "make_early_stopping_hook",
    "read_eval_metrics",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

StopFn = Callable[[], bool]


def make_early_stopping_hook(
    estimator: Any,
    should_stop_fn: StopFn,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> tf.train.SessionRunHook:
    """A hook that ends training once ``should_stop_fn`` says so.

    The chief asks; other workers of a cluster see its answer in the variable
    ``signal_early_stopping/STOP``.
    """
    from .estimator import Estimator

    if not isinstance(estimator, Estimator):
        raise TypeError(
            "`estimator` must have type `tf.estimator.Estimator`. "
            f"Got: {type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError(
            "Only one of `run_every_secs` and `run_every_steps` must be set."
        )
    config = estimator.config
    if config.cluster_spec and cluster.is_collective(config.train_distribute):
        if run_every_secs is not None:
            raise ValueError(
                "run_every_secs should not be set when using "
                "MultiWorkerMirroredStrategy: the workers' clocks differ. "
                "Use run_every_steps."
            )
        return _StopTogetherHook(should_stop_fn, run_every_steps)
    if config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _StopWhenToldHook()


def stop_if_higher_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> tf.train.SessionRunHook:
    """Stops once an evaluation's metric is above ``threshold``."""
    fn = _threshold_crossed(
        estimator, metric_name, threshold, eval_dir, min_steps, operator.gt
    )
    return make_early_stopping_hook(estimator, fn, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> tf.train.SessionRunHook:
    """Stops once an evaluation's metric is below ``threshold``."""
    fn = _threshold_crossed(
        estimator, metric_name, threshold, eval_dir, min_steps, operator.lt
    )
    return make_early_stopping_hook(estimator, fn, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> tf.train.SessionRunHook:
    """Stops once a metric has not gone up for so many steps."""
    fn = _no_improvement(
        estimator,
        metric_name,
        max_steps_without_increase,
        eval_dir,
        min_steps,
        operator.gt,
    )
    return make_early_stopping_hook(estimator, fn, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> tf.train.SessionRunHook:
    """Stops once a metric has not gone down for so many steps."""
    fn = _no_improvement(
        estimator,
        metric_name,
        max_steps_without_decrease,
        eval_dir,
        min_steps,
        operator.lt,
    )
    return make_early_stopping_hook(estimator, fn, run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """Metrics of every evaluation by global step, in order of steps."""
    found: dict[int, dict[str, float]] = collections.defaultdict(dict)
    for event in _events(eval_dir):
        metrics = {
            value.tag: value.simple_value
            for value in event.summary.value
            if value.HasField("simple_value")
        }
        if metrics:
            found[event.step].update(metrics)
    return collections.OrderedDict(sorted(found.items()))


def _events(eval_dir: str) -> Iterator[Any]:
    if not tf.io.gfile.exists(eval_dir):
        return
    for path in sorted(
        tf.io.gfile.glob(os.path.join(eval_dir, "events.out.tfevents.*"))
    ):
        try:
            yield from tf.train.summary_iterator(path)
        except tf.errors.DataLossError as error:
            # A killed process leaves half a record at the end of its file.
            tf.logging.warning("Skipping the damaged rest of %s: %s", path, error)


def _recorded(
    eval_dir: str, metric_name: str, min_steps: int
) -> Iterator[tuple[int, float]]:
    for step, metrics in read_eval_metrics(eval_dir).items():
        if step >= min_steps:
            yield step, metrics[metric_name]


def _threshold_crossed(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None,
    min_steps: int,
    is_beyond: Callable[[float, float], bool],
) -> StopFn:
    directory = estimator.eval_dir() if eval_dir is None else eval_dir
    words = "greater than" if is_beyond is operator.gt else "less than"

    def should_stop() -> bool:
        for step, value in _recorded(directory, metric_name, min_steps):
            if is_beyond(value, threshold):
                tf.logging.info(
                    'At step %s, metric "%s" has value %s which is %s the configured '
                    "threshold (%s) for early stopping.",
                    step,
                    metric_name,
                    value,
                    words,
                    threshold,
                )
                return True
        return False

    return should_stop


def _no_improvement(
    estimator: Any,
    metric_name: str,
    max_steps: int,
    eval_dir: str | None,
    min_steps: int,
    is_better: Callable[[float, float], bool],
) -> StopFn:
    directory = estimator.eval_dir() if eval_dir is None else eval_dir
    word = "increase" if is_better is operator.gt else "decrease"

    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, value in _recorded(directory, metric_name, min_steps):
            if best is None or is_better(value, best[1]):
                best = step, value
            if step - best[0] >= max_steps:
                tf.logging.info(
                    'No %s in metric "%s" for %s steps, which is greater than or '
                    "equal to max steps (%s) configured for early stopping.",
                    word,
                    metric_name,
                    step - best[0],
                    max_steps,
                )
                return True
        return False

    return should_stop


def _check_stop_fn(should_stop_fn: Any) -> None:
    if not callable(should_stop_fn):
        raise TypeError("`should_stop_fn` must be callable.")


def _stop_variable(**options: Any) -> Any:
    """The flag that chief and workers share; part of the checkpoint."""
    with tf.variable_scope("signal_early_stopping", reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            "STOP",
            shape=[],
            initializer=tf.zeros_initializer(),
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
            **options,
        )


class _StopOnPredicateHook(tf.train.SessionRunHook):
    """Asks, stops its own training and raises the flag for the workers."""

    def __init__(
        self,
        should_stop_fn: StopFn,
        run_every_secs: float | None,
        run_every_steps: int | None,
    ) -> None:
        _check_stop_fn(should_stop_fn)
        self._should_stop_fn = should_stop_fn
        self._timer = tf.train.SecondOrStepTimer(
            every_secs=run_every_secs, every_steps=run_every_steps
        )

    def begin(self) -> None:
        self._global_step = tf.train.get_global_step()
        self._stop_op = _stop_variable(dtype=tf.bool).assign(True)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        # The value of the run may be older than the run's own update.
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._global_step)
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            tf.logging.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class _StopWhenToldHook(tf.train.SessionRunHook):
    """Stops when the chief has raised the flag."""

    def begin(self) -> None:
        self._stop = _stop_variable(dtype=tf.bool)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._stop)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results:
            tf.logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()


class _StopTogetherHook(tf.train.SessionRunHook):
    """For collective training: all workers stop after the same step.

    Each adds its vote to a summed variable. The update is a collective: every
    worker runs it whenever the timer fires, whatever its own answer.
    """

    def __init__(self, should_stop_fn: StopFn, run_every_steps: int | None) -> None:
        _check_stop_fn(should_stop_fn)
        self._should_stop_fn = should_stop_fn
        self._timer = tf.train.SecondOrStepTimer(every_steps=run_every_steps)

    def begin(self) -> None:
        self._global_step = tf.train.get_global_step()
        self._stop = _stop_variable(
            dtype=tf.int32,
            synchronization=tf.VariableSynchronization.ON_WRITE,
            aggregation=tf.VariableAggregation.SUM,
        )
        self._vote: Any = None

        def add_vote(variable: Any) -> Any:
            vote = tf.placeholder_with_default(0, (), name="stop_value")
            if self._vote is None:
                self._vote = vote
            return variable.assign_add(vote)

        self._vote_op = tf.distribute.get_strategy().run(add_vote, args=(self._stop,))

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._stop)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results > 0:
            tf.logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
            return
        # Read on its own: in the run it may be older than the run's own update,
        # and workers that vote after different steps wait for each other.
        step = run_context.session.run(self._global_step)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            vote = int(bool(self._should_stop_fn()))
            run_context.session.run(self._vote_op, feed_dict={self._vote: vote})
