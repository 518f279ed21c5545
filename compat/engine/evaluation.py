"""The evaluation run: every batch counts exactly once, whatever the replicas."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from . import replication, scaffolds, staged_batches
from .inputs import features_and_labels
from .short_steps import ShortStepsHook

__all__ = [
    "EvaluationGraph",
    "ReplicaUpdates",
    "StopAfterNEvalsHook",
    "build",
    "model_alone",
    "model_on_replicas",
    "run",
]

LOSS_KEY = "loss"
_EVAL_STEP = tf.GraphKeys.EVAL_STEP

_EVAL = "eval"


class EvaluationGraph(NamedTuple):
    """What one evaluation runs, in the order in which libraries take it apart."""

    scaffold: Any
    update_op: Any
    eval_dict: dict[str, Any]
    all_hooks: list[Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplicaUpdates:
    """The step of an evaluation on several replicas.

    ``updates[n]`` updates the metrics from the first ``n`` replicas; ``pull``
    fetches the batches of a step and says how many there are.
    """

    updates: tuple[Any, ...]
    pull: Any

    def together_with(self, op: Any) -> ReplicaUpdates:
        """The same step, with one more operation in it."""
        updates = [
            update if update is None else tf.group(update, op)
            for update in self.updates
        ]
        return dataclasses.replace(self, updates=tuple(updates))


def get_or_create_eval_step() -> Any:
    """The local variable that counts evaluation steps."""
    graph = tf.get_default_graph()
    found = graph.get_collection(_EVAL_STEP)
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    return tf.get_variable(
        "eval_step",
        shape=[],
        dtype=tf.int64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, _EVAL_STEP],
    )


class StopAfterNEvalsHook(tf.train.SessionRunHook):
    """Stops after ``num_evals`` steps and logs about ten lines on the way."""

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._log_progress = log_progress
        self._every = 1 if num_evals is None or num_evals < 20 else num_evals // 10
        self._evals_completed: Any = None

    def _set_evals_completed_tensor(self, evals_completed: Any) -> None:
        """The name by which TensorFlow's own hooks of this kind are told, too."""
        self._evals_completed = evals_completed

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._evals_completed)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        done = run_values.results
        if self._log_progress:
            if self._num_evals is None:
                tf.logging.info("Evaluation [%d]", done)
            elif done % self._every == 0 or done == self._num_evals:
                tf.logging.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


def build(
    estimator: Any, input_fn: Callable[..., Any], hooks: Sequence[Any]
) -> EvaluationGraph:
    """Builds the graph of one evaluation in the current graph."""
    # Outside of the strategy: the count lives on the host, once.
    eval_step = get_or_create_eval_step()
    with estimator._evaluation_scope():
        estimator._set_random_seed()
        global_step = estimator._create_and_assert_global_step(tf.get_default_graph())
        call = (
            estimator._call_model_fn_eval
            if estimator._eval_distribution is None
            else estimator._call_model_fn_eval_distributed
        )
        found = call(input_fn, estimator.config)
        scaffold, own_hooks, input_hooks, update_op, values = found
        if global_step is None:
            # A restored SavedModel brings the step variable of its own.
            global_step = tf.train.get_global_step()
        if global_step is not None:
            if tf.GraphKeys.GLOBAL_STEP in values:
                raise ValueError(
                    "Metric with name `global_step` is not allowed, because Estimator "
                    "already defines a default metric with the same name."
                )
            values[tf.GraphKeys.GLOBAL_STEP] = tf.identity(global_step)
        count = tf.identity(tf.assign_add(eval_step, 1, use_locking=True))
        for hook in hooks:
            tell = getattr(hook, "_set_evals_completed_tensor", None)
            if tell is not None:
                tell(count)
        if isinstance(update_op, ReplicaUpdates):
            update_op = update_op.together_with(count)
        else:
            update_op = tf.group(update_op, count)
        return EvaluationGraph(
            scaffold=scaffolds.with_default_local_init(scaffold),
            update_op=update_op,
            eval_dict=values,
            all_hooks=[*input_hooks, *hooks, *own_hooks],
        )


def _with_loss(metrics: Mapping[str, Any], loss_metric: Any) -> dict[str, Any]:
    if LOSS_KEY in metrics:
        raise ValueError(
            f'Metric with name "{LOSS_KEY}" is not allowed, because Estimator already '
            "defines a default metric with the same name."
        )
    return {**metrics, LOSS_KEY: loss_metric}


def model_alone(
    estimator: Any, input_fn: Callable[..., Any], config: Any
) -> tuple[Any, ...]:
    """Scaffold, hooks of the model and of the input, update and values: one model."""
    found = estimator._get_features_and_labels_from_input_fn(input_fn, _EVAL)
    features, labels, input_hooks = found
    spec = estimator._call_model_fn(features, labels, _EVAL, config)
    metrics = _with_loss(spec.eval_metric_ops, tf.metrics.mean(spec.loss))
    names = sorted(metrics)
    update = tf.group(*(metrics[name][1] for name in names))
    values = {name: metrics[name][0] for name in names}
    return spec.scaffold, spec.evaluation_hooks, input_hooks, update, values


def model_on_replicas(
    estimator: Any, strategy: Any, input_fn: Callable[..., Any], config: Any
) -> tuple[Any, ...]:
    """The same as of `model_alone`, under a strategy.

    With several replicas, successive batches go to them, and the last step may
    have fewer batches. Real TensorFlow lost or kept the batches of an incomplete
    last step by chance: one replica ran out of data while another was already
    counting. A step's batches are therefore fetched first, and only the metrics of
    replicas that got one are updated. Where a subclass gives an iterator of its own,
    that one is asked, as there.
    """
    with staged_batches.staging() as stages:
        iterator, input_hooks = estimator._get_iterator_from_input_fn(
            input_fn, _EVAL, strategy
        )
        batch = features_and_labels(iterator.get_next())
    pull = staged_batches.pull(stages)

    def replica(features: Any, labels: Any) -> Any:
        spec = estimator._call_model_fn(features, labels, _EVAL, config)
        return spec, tf.metrics.mean(spec.loss)

    spec, loss_metric = replication.call_for_each_replica(strategy, replica, batch)
    metrics = _with_loss(spec.eval_metric_ops, loss_metric)
    names = sorted(metrics)
    by_metric = [replication.local_results(strategy, metrics[n][1]) for n in names]
    updates = [
        tf.group(*(op for ops in by_metric for op in ops[:count]))
        for count in range(1, strategy.num_replicas_in_sync + 1)
    ]
    own_hooks = [
        replication.first_replica(strategy, hook) for hook in spec.evaluation_hooks
    ]
    return (
        scaffolds.combine(spec.scaffold, strategy),
        own_hooks,
        input_hooks,
        updates[-1]
        if pull is None
        else ReplicaUpdates(updates=(None, *updates), pull=pull),
        {name: metrics[name][0] for name in names},
    )


def run(
    scaffold: Any,
    update_op: Any,
    eval_dict: Mapping[str, Any],
    hooks: Sequence[Any],
    *,
    checkpoint_path: str | None,
    master: str,
    session_config: Any,
) -> dict[str, Any]:
    """Runs until the data ends or a hook stops it, then reads the metrics."""
    final = tf.train.FinalOpsHook(eval_dict)
    creator = tf.train.ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=session_config,
    )
    start = time.time()
    tf.logging.info(
        "Starting evaluation at %s",
        time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime()),
    )
    any_step_done = False
    data_ended_at_once = False

    # The name of the argument is what run_step_fn insists on.
    def one_step(step_context: Any) -> None:
        count = int(step_context.session.run(update_op.pull))
        step_context.run_with_hooks(update_op.updates[count])

    with tf.train.MonitoredSession(
        session_creator=creator, hooks=[*hooks, final, ShortStepsHook()]
    ) as session:
        while not session.should_stop():
            try:
                if isinstance(update_op, ReplicaUpdates):
                    session.run_step_fn(one_step)
                else:
                    session.run(update_op)
            except tf.errors.OutOfRangeError:
                data_ended_at_once = not any_step_done
                raise
            any_step_done = True
    tf.logging.info("Inference Time : %.5fs", time.time() - start)
    if data_ended_at_once:
        raise ValueError(
            "Evaluation made no steps. Perhaps input is empty or misspecified: "
            "input_fn gave no batch."
        )
    return dict(final.final_ops_values)
