"""The training run: steps, and what happens between them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from .checkpoints import restore, saved_step, saver_of
from .graph import READ_OP_COLLECTION, ModelGraph
from .inputs import ModelInput, features_and_labels
from .vocabulary import EstimatorSpec, v1
from .workers import workers_of


class TrainingModel:
    """A model function traced for training."""

    def __init__(
        self,
        call_model_fn: Callable[[Any, Any], EstimatorSpec],
        input_fn: Callable[[], Any],
        *,
        config: Any,
        hooks: Iterable[Any],
        listeners: Iterable[Any],
        checkpoint: str | None,
        warm_start: Callable[[], None],
    ):
        self.config = config
        self.call_model_fn = call_model_fn
        self.workers = workers_of(config.train_distribute)
        self.strategy = strategy = checked_strategy(self.workers.strategy)
        self.replicated_steps = strategy and strategy.num_replicas_in_sync > 1
        used = saved_step(checkpoint) if config.resume_data else 0
        self.data = ModelInput(input_fn, self.workers.replicas, used=used)

        def build() -> None:
            step = v1.train.get_or_create_global_step()
            # Where the hooks of TensorFlow look for it: as it was before the step.
            v1.add_to_collection(READ_OP_COLLECTION, step + 0)
            self.spec, self.loss, self.train_op = self.replicated(
                self.data.next_batches()
            )
            if not checkpoint:
                warm_start()
            summaries = v1.get_collection(v1.GraphKeys.SUMMARIES)
            if not any(summary.op.name == "loss" for summary in summaries):
                v1.summary.scalar("loss", self.loss)
            v1.add_to_collection(v1.GraphKeys.LOSSES, self.loss)
            chief_hooks = self.spec.training_chief_hooks
            self.hooks = [
                *(chief_hooks if self.workers.is_chief else ()),
                *hooks,
                *self.spec.training_hooks,
            ]
            self.saving_hooks = [
                hook
                for hook in self.hooks
                if isinstance(hook, v1.train.CheckpointSaverHook)
            ]
            if self.saving_hooks:
                # A hook of the program's own saves: it calls the listeners as well.
                known = self.saving_hooks[0]._listeners
                known += [one for one in listeners if one not in known]
            else:
                for listener in listeners:
                    listener.begin()
            for hook in self.hooks:
                hook.begin()
            self.summary = self.spec.scaffold.summary_op
            if self.summary is None:
                self.summary = v1.summary.merge_all()

        with reduced_in_one_place(strategy):
            self.graph = ModelGraph(
                build,
                checkpoint,
                config.tf_random_seed,
                strategy,
                self.workers.variables,
            )
        if self.saving_hooks:
            with self.graph.inside():
                self.add_saver()

    def replicated(self, batches: list[Any]) -> tuple[EstimatorSpec, Any, Any]:
        """Calls the model function for each replica: specification, loss, update."""
        specs: list[EstimatorSpec] = []

        def call(batch: Any) -> tuple[Any, Any]:
            spec = self.call_model_fn(*features_and_labels(batch))
            specs.append(spec)
            with tf.control_dependencies([spec.train_op]):
                done = tf.constant(True)
            return spec.loss, done

        if not self.replicated_steps:
            if self.strategy is None:
                spec = self.call_model_fn(*features_and_labels(batches[0]))
                return spec, spec.loss, operation(spec.train_op)
            strategy = tf.distribute.get_strategy()
            loss, done = strategy.run(call, args=(batches[0],))
            return specs[0], loss, done.op
        strategy = tf.distribute.get_strategy()
        spread = strategy.experimental_distribute_values_from_function
        here = self.workers.replicas
        batch = spread(lambda place: batches[place.replica_id_in_sync_group % here])
        with scaled_losses(strategy):
            losses, done = strategy.run(call, args=(batch,))
        # Optimizers of TensorFlow 1 divide a loss by the number of replicas, unless it
        # is summed over the examples; what is reported follows them.
        graph = v1.get_default_graph()
        mean = getattr(graph, "_is_loss_scaled_by_optimizer", False)
        loss = strategy.reduce("MEAN" if mean else "SUM", losses, axis=None)
        return specs[0], loss, tf.group(strategy.experimental_local_results(done))

    def add_saver(self) -> None:
        """Gives hooks that save checkpoints of their own the saver they look for."""
        given = self.spec.scaffold.saver or v1.get_collection(v1.GraphKeys.SAVERS)
        if not given:
            saver = saver_of(self.graph, self.config)
            v1.add_to_collection(v1.GraphKeys.SAVERS, saver)


def initialize(graph: ModelGraph, checkpoint: str | None, scaffold: Any) -> None:
    """Does what came before the first step of a session."""
    if checkpoint:
        restore(graph, checkpoint, scaffold)
    else:
        made = graph.variables.by_name.values()
        # Nothing but a warm start gave them an operation that sets them.
        loads = [getattr(variable, "_initializer_op", None) for variable in made]
        if any(load is not None for load in loads):
            graph.run(loads)
        if scaffold.init_fn is not None:
            with graph.inside():
                scaffold.init_fn(graph.session)
    tables = graph.graph.get_collection(v1.GraphKeys.TABLE_INITIALIZERS)
    if tables:
        graph.run(tables)
    if scaffold.local_init_op is not None:
        graph.run(scaffold.local_init_op)


def operation(train_op: Any) -> Any:
    """The operation of a train_op, which may be given as its result."""
    if isinstance(train_op, tf.Operation):
        return train_op
    return tf.group(train_op)


def checked_strategy(strategy: Any) -> Any:
    """The strategy; where it has several devices, they have to be here.

    With one that is not, replicas would end up on one device and wait for each other
    for ever. A lone replica takes the device that there is.
    """
    if strategy is None:
        return None
    here = {(d.device_type, d.name[-1:]) for d in tf.config.list_logical_devices()}
    missing = []
    for device in strategy.extended.worker_devices:
        spec = tf.DeviceSpec.from_string(device)
        if (spec.device_type, str(spec.device_index or 0)) not in here:
            missing.append(device)
    if missing and strategy.num_replicas_in_sync > 1:
        raise ValueError(
            f"The strategy names devices that this machine does not have: "
            f"{', '.join(missing)}. tf.distribute.MirroredStrategy() without devices "
            "takes what is there."
        )
    return strategy


@contextlib.contextmanager
def reduced_in_one_place(strategy: Any) -> Iterator[None]:
    """Lets replicas on CPUs add up their gradients on one of them.

    The collectives that a strategy takes by default wait for each other for ever when
    parts of a graph are run. There is no public name to change them afterwards.
    """
    before: dict[str, Any] = {}
    extended: Any = getattr(strategy, "extended", None)
    if extended is not None and not multi_worker(extended):
        on_gpus = all("GPU" in device for device in extended.worker_devices)
        for name in ("_cross_device_ops", "_inferred_cross_device_ops"):
            current = getattr(extended, name, None)
            if type(current).__name__ == "CollectiveAllReduce":
                before[name] = current
                reduce_all = tf.distribute.NcclAllReduce
                one_place = tf.distribute.ReductionToOneDevice
                setattr(extended, name, reduce_all() if on_gpus else one_place())
    try:
        yield
    finally:
        for name, current in before.items():
            setattr(extended, name, current)


def multi_worker(extended: Any) -> bool:
    """Whether replicas are in several processes, which collectives are made for."""
    asked = getattr(extended, "_in_multi_worker_mode", None)
    return bool(asked and asked())


def scaled_losses(strategy: Any) -> contextlib.AbstractContextManager[Any]:
    """Lets optimizers of TensorFlow 1 take the mean over replicas, not the sum.

    There is no public name for it; they look for it on the strategy.
    """
    enabled: Any = strategy._scale_loss_for_estimator_enabled()
    return enabled  # type: ignore[no-any-return]
