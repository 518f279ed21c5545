"""The training run: steps, and what happens between them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from .asked import (
    CLUSTERS,
    HOOKS,
    KERAS_WEIGHTS,
    LISTENERS,
    REPLICAS,
    RESUMED,
    WARM_STARTS,
)
from .checkpoints import restore, saved_step, saver_of
from .graph import ModelGraph, global_step_in_graph
from .hooks import begun_hooks
from .inputs import ModelInput, features_and_labels
from .places import check_devices, check_replicas_are_here, replicas_here
from .replicas import call_for_replicas, reduced_in_one_place
from .vocabulary import EstimatorSpec, v1
from .workers import workers_of

# What models that have weights of their own begin with, in the collection of a graph.
FIRST_WEIGHTS = "first_weights"


class TrainingModel:
    """A model function traced for training."""

    def __init__(
        self,
        call_model_fn: Callable[[Any, Any], EstimatorSpec],
        input_fn: Callable[[], Any],
        *,
        config: Any,
        checkpoint: str | None,
        hooks: Iterable[Any] = (),
        listeners: Iterable[Any] = (),
        warm_start: Any = None,
    ):
        if CLUSTERS:
            workers = workers_of(config.train_distribute)
            strategy, replicas = workers.strategy, workers.replicas
        elif REPLICAS:
            strategy = config.train_distribute
            replicas = replicas_here(strategy)
            check_replicas_are_here(strategy)
        if REPLICAS:
            check_devices(strategy)
        self.data = ModelInput(
            input_fn,
            replicas=replicas if REPLICAS else 1,
            used=saved_step(checkpoint) if RESUMED and config.resume_data else 0,
        )

        def build() -> None:
            global_step_in_graph()
            batches = self.data.next_batches()
            if REPLICAS and strategy is not None:
                self.spec, self.loss, self.train_op = call_for_replicas(
                    call_model_fn, batches
                )
            else:
                self.spec = call_model_fn(*features_and_labels(batches[0]))
                self.loss = self.spec.loss
                self.train_op = operation(self.spec.train_op)
            if WARM_STARTS and not checkpoint:
                warm_start()
            summaries = v1.get_collection(v1.GraphKeys.SUMMARIES)
            if not any(summary.op.name == "loss" for summary in summaries):
                v1.summary.scalar("loss", self.loss)
            if HOOKS:
                v1.add_to_collection(v1.GraphKeys.LOSSES, self.loss)
                is_chief = not CLUSTERS or workers.is_chief
                chief_hooks = self.spec.training_chief_hooks if is_chief else ()
                self.hooks = [*chief_hooks, *hooks, *self.spec.training_hooks]
                self.saving_hooks = begun_hooks(self.hooks, listeners)
                self.summary = self.spec.scaffold.summary_op
                if self.summary is None:
                    self.summary = v1.summary.merge_all()
            else:
                if LISTENERS:
                    for listener in listeners:
                        listener.begin()
                self.summary = v1.summary.merge_all()

        with reduced_in_one_place(strategy) if REPLICAS else contextlib.nullcontext():
            self.graph = ModelGraph(
                build,
                checkpoint,
                config.tf_random_seed,
                strategy=strategy if REPLICAS else None,
                variables=workers.variables if CLUSTERS else None,
            )
        if HOOKS and self.saving_hooks and self.spec.scaffold.saver is None:
            with self.graph.inside():
                # Hooks that save checkpoints of their own look for it there.
                if not v1.get_collection(v1.GraphKeys.SAVERS):
                    saver = saver_of(self.graph, config)
                    v1.add_to_collection(v1.GraphKeys.SAVERS, saver)


def initialize(
    graph: ModelGraph, checkpoint: str | None, *, scaffold: Any = None
) -> None:
    """Does what came before the first step of a session."""
    if checkpoint:
        restore(graph, checkpoint, scaffold=scaffold)
    else:
        made = graph.variables.by_name.values()
        # Nothing but a checkpoint of another model gave them what sets them.
        loads = [getattr(variable, "_initializer_op", None) for variable in made]
        if any(load is not None for load in loads):
            graph.run([load for load in loads if load is not None])
        if KERAS_WEIGHTS:
            for begin in graph.graph.get_collection(FIRST_WEIGHTS):
                begin()
        if HOOKS and scaffold.init_fn is not None:
            with graph.inside():
                scaffold.init_fn(graph.session)
    tables = graph.graph.get_collection(v1.GraphKeys.TABLE_INITIALIZERS)
    if tables:
        graph.run(tables)
    if HOOKS and scaffold.local_init_op is not None:
        graph.run(scaffold.local_init_op)


def operation(train_op: Any) -> Any:
    """The operation of a train_op, which may be given as its result."""
    if isinstance(train_op, tf.Operation):
        return train_op
    return tf.group(train_op)
