"""The evaluation run: every batch counts exactly once, whatever the replicas."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from . import private_api, replication, scaffolds
from .inputs import (
    InputRequest,
    IteratorInitializerHook,
    features_and_labels,
    is_dataset,
    make_input,
)
from .short_steps import ShortStepsHook

__all__ = ["EvaluationGraph", "StopAfterNEvalsHook", "build", "run"]

LOSS_KEY = "loss"
_EVAL_STEP = tf.GraphKeys.EVAL_STEP

ModelCall = Callable[[Any, Any], Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluationGraph:
    """What one evaluation runs.

    ``updates[n]`` updates the metrics from the first ``n`` replicas; the last
    one is the ordinary step. ``pull`` fetches the batches of a step and says
    how many there are; it is None for a single replica.
    """

    scaffold: Any
    updates: tuple[Any, ...]
    values: dict[str, Any]
    hooks: tuple[Any, ...]
    pull: Any = None


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
        self.evals_completed: Any = None

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self.evals_completed)

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
    estimator: Any,
    request: InputRequest,
    model_call: ModelCall,
    hooks: Sequence[Any],
    strategy: Any,
) -> EvaluationGraph:
    """Builds the graph of one evaluation in the current graph."""
    # Outside of the strategy: the count lives on the host, once.
    eval_step = get_or_create_eval_step()
    if strategy is None:
        return _build(estimator, request, model_call, hooks, None, eval_step)
    with replication.graph_strategy(strategy):
        return _build(estimator, request, model_call, hooks, strategy, eval_step)


def _build(
    estimator: Any,
    request: InputRequest,
    model_call: ModelCall,
    hooks: Sequence[Any],
    strategy: Any,
    eval_step: Any,
) -> EvaluationGraph:
    estimator._set_random_seed()
    global_step = estimator._create_and_assert_global_step(tf.get_default_graph())
    if strategy is not None and strategy.num_replicas_in_sync > 1:
        graph = _build_replicas(request, model_call, strategy, hooks)
    else:
        graph = _build_single(request, model_call, strategy, hooks)
    if global_step is None:
        # A restored SavedModel brings the step variable of its own.
        global_step = tf.train.get_global_step()
    if global_step is not None:
        if tf.GraphKeys.GLOBAL_STEP in graph.values:
            raise ValueError(
                "Metric with name `global_step` is not allowed, because Estimator "
                "already defines a default metric with the same name."
            )
        graph.values[tf.GraphKeys.GLOBAL_STEP] = tf.identity(global_step)
    count = tf.identity(tf.assign_add(eval_step, 1, use_locking=True))
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook.evals_completed = count
    return dataclasses.replace(
        graph,
        scaffold=scaffolds.with_default_local_init(graph.scaffold),
        updates=tuple(
            tf.group(update, count) if update is not None else None
            for update in graph.updates
        ),
    )


def _with_loss(metrics: Mapping[str, Any], loss_metric: Any) -> dict[str, Any]:
    if LOSS_KEY in metrics:
        raise ValueError(
            f'Metric with name "{LOSS_KEY}" is not allowed, because Estimator already '
            "defines a default metric with the same name."
        )
    return {**metrics, LOSS_KEY: loss_metric}


def _build_single(
    request: InputRequest, model_call: ModelCall, strategy: Any, hooks: Sequence[Any]
) -> EvaluationGraph:
    source = make_input(request)
    if strategy is None:
        spec = model_call(source.features, source.labels)
        own_hooks = tuple(spec.evaluation_hooks)
        scaffold = spec.scaffold
        metrics = _with_loss(spec.eval_metric_ops, tf.metrics.mean(spec.loss))
        updates = [metrics[name][1] for name in sorted(metrics)]
    else:

        def replica(features: Any, labels: Any) -> Any:
            spec = model_call(features, labels)
            return spec, tf.metrics.mean(spec.loss)

        spec, loss_metric = replication.call_for_each_replica(
            strategy, replica, (source.features, source.labels)
        )
        own_hooks = _first_replica_hooks(spec, strategy)
        scaffold = replication.first_replica(strategy, spec.scaffold)
        metrics = _with_loss(spec.eval_metric_ops, loss_metric)
        updates = [strategy.group(metrics[name][1]) for name in sorted(metrics)]
    return EvaluationGraph(
        scaffold=scaffold,
        updates=(None, tf.group(*updates)),
        values={name: metrics[name][0] for name in sorted(metrics)},
        hooks=(*source.hooks, *hooks, *own_hooks),
    )


def _first_replica_hooks(spec: Any, strategy: Any) -> tuple[Any, ...]:
    return tuple(
        replication.first_replica(strategy, hook) for hook in spec.evaluation_hooks
    )


def _build_replicas(
    request: InputRequest, model_call: ModelCall, strategy: Any, hooks: Sequence[Any]
) -> EvaluationGraph:
    """Successive batches to replicas, with a last step of fewer batches.

    Real TensorFlow lost or kept the batches of an incomplete last step by
    chance: one replica ran out of data while another was already counting. A
    step's batches are therefore fetched first, and only the metrics of
    replicas that got one are updated.
    """
    source = _StagedBatches(request, strategy)

    def replica() -> Any:
        features, labels = features_and_labels(source.batch_of_this_replica())
        spec = model_call(features, labels)
        return spec, tf.metrics.mean(spec.loss)

    spec, loss_metric = replication.call_for_each_replica(strategy, replica)
    metrics = _with_loss(spec.eval_metric_ops, loss_metric)
    names = sorted(metrics)
    by_metric = [replication.local_results(strategy, metrics[n][1]) for n in names]
    updates: list[Any] = [None]
    for count in range(1, strategy.num_replicas_in_sync + 1):
        updates.append(tf.group(*(op for ops in by_metric for op in ops[:count])))
    return EvaluationGraph(
        scaffold=scaffolds.combine(spec.scaffold, strategy),
        updates=tuple(updates),
        values={name: metrics[name][0] for name in names},
        hooks=(
            IteratorInitializerHook(source.initializer),
            *hooks,
            *_first_replica_hooks(spec, strategy),
        ),
        pull=source.pull,
    )


class _StagedBatches:
    """The batches of one step, staged between two session calls."""

    def __init__(self, request: InputRequest, strategy: Any) -> None:
        self._count = strategy.num_replicas_in_sync
        with tf.device("/cpu:0"):
            context = tf.distribute.InputContext(
                num_input_pipelines=1,
                input_pipeline_id=0,
                num_replicas_in_sync=self._count,
            )
            dataset = request.call(context)
            if not is_dataset(dataset):
                raise ValueError(
                    "input_fn must return a tf.data.Dataset when a distribution "
                    f"strategy is used, given: {dataset}."
                )
            self._iterator = tf.data.make_initializable_iterator(dataset)
            self._build()

    def _build(self) -> None:
        first = self._iterator.get_next()
        components = tf.nest.flatten(first, expand_composites=True)
        batches = [components]
        present = [tf.constant(1, tf.int32)]
        for _ in range(1, self._count):
            # One after the other: successive batches go to successive replicas.
            with tf.control_dependencies(batches[-1] + present[-1:]):
                optional = private_api.get_next_as_optional(self._iterator)
                has_value = optional.has_value()
            present.append(tf.cast(has_value, tf.int32))
            batches.append(
                tf.nest.flatten(
                    tf.cond(
                        has_value,
                        lambda optional=optional: tf.nest.flatten(
                            optional.get_value(), expand_composites=True
                        ),
                        lambda: [tf.identity(c) for c in components],
                    )
                )
            )
        flat = [component for batch in batches for component in batch]
        # The queue holds one step; it is fed and emptied in turn, and is empty
        # again when evaluation ends.
        queue = tf.queue.FIFOQueue(1, [c.dtype for c in flat])
        with tf.control_dependencies([queue.enqueue(flat)]):
            self.pull = tf.add_n(present)
        staged = queue.dequeue()
        staged = staged if isinstance(staged, list) else [staged]
        size = len(components)
        self._batches = []
        for index in range(self._count):
            parts = staged[index * size : (index + 1) * size]
            for part, component in zip(parts, components, strict=True):
                part.set_shape(component.shape)
            self._batches.append(
                tf.nest.pack_sequence_as(first, parts, expand_composites=True)
            )

    def initializer(self) -> Any:
        return self._iterator.initializer

    def batch_of_this_replica(self) -> Any:
        context = tf.distribute.get_replica_context()
        index = tf.get_static_value(context.replica_id_in_sync_group)
        return self._batches[int(index)]


def run(
    graph: EvaluationGraph,
    *,
    checkpoint_path: str | None,
    master: str,
    session_config: Any,
) -> dict[str, Any]:
    """Runs until the data ends or a hook stops it, then reads the metrics."""
    final = tf.train.FinalOpsHook(graph.values)
    creator = tf.train.ChiefSessionCreator(
        scaffold=graph.scaffold,
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
        count = int(step_context.session.run(graph.pull))
        step_context.run_with_hooks(graph.updates[count])

    with tf.train.MonitoredSession(
        session_creator=creator, hooks=[*graph.hooks, final, ShortStepsHook()]
    ) as session:
        while not session.should_stop():
            try:
                if graph.pull is None:
                    session.run(graph.updates[-1])
                else:
                    session.run_step_fn(one_step)
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
