"""The training run: hooks in legacy order around a monitored session."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tfmigrate.compat.engine.rivals import Rivals

from . import lost_tasks, private_api, replication, scaffolds
from .inputs import features_and_labels
from .short_steps import ShortStepsHook
from .step_counting import count_after_reads

__all__ = ["train_alone", "train_on_replicas", "train_with_spec"]

# How often workers that train together save where the program counts seconds.
_STEPS_FOR_SECONDS = 1000

_TRAIN = "train"


def train_alone(
    estimator: Any,
    input_fn: Callable[..., Any],
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
) -> Any:
    """Builds the graph of training without a strategy, trains, gives the last loss."""
    with tf.Graph().as_default() as graph, graph.device(estimator._device_fn):
        estimator._set_random_seed()
        # A graph without a step variable of its own (a restored SavedModel
        # brings one) makes the shared read later.
        if estimator._create_and_assert_global_step(graph) is not None:
            private_api.get_or_create_global_step_read(graph)
        found = estimator._get_features_and_labels_from_input_fn(input_fn, _TRAIN)
        features, labels, input_hooks = found
        spec = estimator._call_model_fn(features, labels, _TRAIN, estimator.config)
        return estimator._train_with_estimator_spec(
            spec,
            list(input_hooks),
            hooks,
            tf.train.get_global_step(graph),
            saving_listeners,
        )


def train_on_replicas(
    estimator: Any,
    strategy: Any,
    input_fn: Callable[..., Any],
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
) -> Any:
    """Builds the graph of training under a strategy, trains, gives the last loss."""
    scale_loss = estimator._optimizer_scales_loss(strategy)
    with (
        tf.Graph().as_default() as graph,
        replication.graph_strategy(strategy, scale_loss=scale_loss),
    ):
        estimator._set_random_seed()
        iterator, input_hooks = estimator._get_iterator_from_input_fn(
            input_fn, _TRAIN, strategy
        )
        global_step = estimator._create_and_assert_global_step(graph)
        tf.add_to_collection(
            private_api.GLOBAL_STEP_READ_KEY, strategy.extended.read_var(global_step)
        )
        features, labels = features_and_labels(iterator.get_next())
        grouped = replication.call_for_each_replica(
            strategy,
            estimator._call_model_fn,
            (features, labels, _TRAIN, estimator.config),
        )
        return estimator._train_with_estimator_spec(
            _one_spec(grouped, strategy),
            list(input_hooks),
            hooks,
            global_step,
            saving_listeners,
        )


def _one_spec(grouped: Any, strategy: Any) -> Any:
    def from_first_replica(hooks: Any) -> list[Any]:
        return [replication.first_replica(strategy, hook) for hook in hooks]

    return type(grouped)(
        mode=grouped.mode,
        loss=replication.reported_loss(strategy, grouped.loss),
        train_op=strategy.group(grouped.train_op),
        training_hooks=from_first_replica(grouped.training_hooks),
        training_chief_hooks=from_first_replica(grouped.training_chief_hooks),
        scaffold=scaffolds.combine(grouped.scaffold, strategy),
    )


def train_with_spec(
    estimator: Any,
    spec: Any,
    worker_hooks: list[Any],
    hooks: Sequence[Any],
    global_step: Any,
    saving_listeners: Sequence[Any],
) -> Any:
    """Adds the stock hooks of an Estimator and trains.

    The order (input, user, NaN guard, log line, model function, then the
    chief's) decides what a user's hook finds done when it is called.
    """
    config = estimator.config
    estimator._warm_start_for_training()
    count_after_reads(spec.train_op)
    if not any(s.op.name == "loss" for s in tf.get_collection(tf.GraphKeys.SUMMARIES)):
        tf.summary.scalar("loss", spec.loss)
    tf.add_to_collection(tf.GraphKeys.LOSSES, spec.loss)
    worker_hooks = [*worker_hooks, *hooks, tf.train.NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        worker_hooks.append(
            tf.train.LoggingTensorHook(
                {"loss": spec.loss, "step": global_step},
                every_n_iter=config.log_step_count_steps,
            )
        )
    worker_hooks.extend(spec.training_hooks)
    if not (spec.scaffold.saver or tf.get_collection(tf.GraphKeys.SAVERS)):
        tf.add_to_collection(
            tf.GraphKeys.SAVERS,
            tf.train.Saver(
                sharded=True,
                max_to_keep=config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
                defer_build=True,
                save_relative_paths=True,
            ),
        )
    together = private_api.cluster_context()
    chief_hooks = _checkpoint_hooks(
        config, spec, worker_hooks, saving_listeners, estimator.model_dir, together
    )
    watch = lost_tasks.tasks_needed(config, together=together is not None)
    if watch is not None:
        # Its end comes before that of a hook which saves a last checkpoint.
        worker_hooks = [watch, *worker_hooks, watch.before_saving]
    if together is not None:
        # What a checkpoint holds may be a mean over the workers: all of them save.
        worker_hooks.extend(chief_hooks)
        chief_hooks = []
    save_summary_steps, log_step_count_steps = _summary_rhythm(
        config, spec, worker_hooks
    )
    try:
        return _train_loop(
            estimator,
            spec,
            worker_hooks,
            (*chief_hooks, *spec.training_chief_hooks),
            save_summary_steps,
            log_step_count_steps,
        )
    finally:
        if watch is not None:
            watch.stop()


def _checkpoint_hooks(
    config: Any,
    spec: Any,
    worker_hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
    model_dir: str,
    together: Any,
) -> list[Any]:
    savers = [
        hook
        for hook in (*worker_hooks, *spec.training_chief_hooks)
        if isinstance(hook, tf.train.CheckpointSaverHook)
    ]
    added: list[Any] = []
    seconds, steps = config.save_checkpoints_secs, config.save_checkpoints_steps
    if together is not None:
        if not together.should_checkpoint:
            task = f"tmp_{together.task_type}_{together.task_id}"
            model_dir = os.path.join(model_dir, task)
        if seconds:
            tf.logging.warning(
                "Workers that train together save after steps, not seconds (their "
                "clocks differ): after every %d. Say save_checkpoints_steps.",
                _STEPS_FOR_SECONDS,
            )
            seconds, steps = None, _STEPS_FOR_SECONDS
        if saving_listeners:
            raise ValueError(
                "Saving listeners are not supported where workers train together."
            )
    if not savers and (seconds or steps):
        added = [
            tf.train.CheckpointSaverHook(
                model_dir,
                save_secs=seconds,
                save_steps=steps,
                scaffold=spec.scaffold,
                save_graph_def=config.checkpoint_save_graph_def,
            )
        ]
        savers = added
    if saving_listeners:
        if not savers:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please "
                "set one of the RunConfig.save_checkpoints_steps or "
                "RunConfig.save_checkpoints_secs."
            )
        known = savers[0]._listeners
        known.extend(listener for listener in saving_listeners if listener not in known)
    return added


def _summary_rhythm(
    config: Any, spec: Any, worker_hooks: list[Any]
) -> tuple[int | None, int | None]:
    """Who writes summaries in a cluster of the ``master`` kind.

    A master also evaluates, and long evaluations would tear holes into the
    curves: its first worker writes them.
    """
    jobs = config.cluster_spec.jobs if config.cluster_spec else ()
    if not ("worker" in jobs and "master" in jobs):
        return config.save_summary_steps, config.log_step_count_steps
    if config.task_type == "worker" and config.task_id == 0:
        if config.save_summary_steps:
            worker_hooks.append(
                tf.train.SummarySaverHook(
                    save_steps=config.save_summary_steps,
                    output_dir=config.model_dir,
                    scaffold=spec.scaffold,
                )
            )
        if config.log_step_count_steps:
            worker_hooks.append(
                tf.train.StepCounterHook(
                    every_n_steps=config.log_step_count_steps,
                    output_dir=config.model_dir,
                )
            )
    return 0, None


def _train_loop(
    estimator: Any,
    spec: Any,
    hooks: Sequence[Any],
    chief_only_hooks: Sequence[Any],
    save_summary_steps: int | None,
    log_step_count_steps: int | None,
) -> Any:
    config = estimator.config
    loss = None
    # In a cluster one task writes the checkpoints, and is no rival of the others.
    marked = estimator.model_dir if config.is_chief else None
    with (
        Rivals(marked) as rivals,
        tf.train.MonitoredTrainingSession(
            master=config.master,
            is_chief=config.is_chief,
            checkpoint_dir=estimator.model_dir,
            scaffold=spec.scaffold,
            hooks=[*hooks, ShortStepsHook()],
            chief_only_hooks=chief_only_hooks,
            save_checkpoint_secs=0,  # a hook of ours saves
            save_summaries_steps=save_summary_steps,
            config=replication.session_config_for(
                estimator._train_distribution, estimator._session_config
            ),
            max_wait_secs=config.session_creation_timeout_secs,
            log_step_count_steps=log_step_count_steps,
            save_graph_def=config.checkpoint_save_graph_def,
        ) as session,
    ):
        any_step_done = False
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
            any_step_done = True
            rivals.look()
    if not any_step_done:
        # No error: what counts epochs (tf.train.limit_epochs) may have met its end
        # while a hook set initial values, as in the usual loop around a KMeans.
        tf.logging.warning(
            "Training with estimator made no steps. Perhaps input is empty or "
            "misspecified: input_fn gave no batch%s.",
            ""
            if estimator._train_distribution is None
            else " for at least one of the "
            f"{estimator._train_distribution.num_replicas_in_sync} replicas",
        )
    return loss
