"""Several replicas of a model in this process: their devices, losses and variables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from .asked import CLUSTERS
from .inputs import features_and_labels
from .vocabulary import EstimatorSpec, v1
from .workers import workers_of


def call_for_replicas(
    call_model_fn: Callable[[Any, Any], EstimatorSpec], batches: list[Any]
) -> tuple[EstimatorSpec, Any, Any]:
    """Calls the model function for each replica: specification, loss, update.

    There is a batch for each replica of this process.
    """
    specs: list[EstimatorSpec] = []
    strategy = tf.distribute.get_strategy()

    def call(batch: Any) -> tuple[Any, Any]:
        spec = call_model_fn(*features_and_labels(batch))
        specs.append(spec)
        with tf.control_dependencies([spec.train_op]):
            done = tf.constant(True)
        return spec.loss, done

    if strategy.num_replicas_in_sync == 1:
        loss, done = strategy.run(call, args=(batches[0],))
        return specs[0], loss, done.op
    spread = strategy.experimental_distribute_values_from_function
    batch = spread(lambda one: batches[one.replica_id_in_sync_group % len(batches)])
    with scaled_losses(strategy):
        losses, done = strategy.run(call, args=(batch,))
    # Optimizers of TensorFlow 1 divide a loss by the number of replicas, unless it
    # is summed over the examples; what is reported follows them.
    graph = v1.get_default_graph()
    mean = getattr(graph, "_is_loss_scaled_by_optimizer", False)
    loss = strategy.reduce("MEAN" if mean else "SUM", losses, axis=None)
    return specs[0], loss, tf.group(strategy.experimental_local_results(done))


@contextlib.contextmanager
def reduced_in_one_place(strategy: Any) -> Iterator[None]:
    """Lets replicas on CPUs add up their gradients on one of them.

    The collectives that a strategy takes by default wait for each other for ever when
    parts of a graph are run. There is no public name to change them afterwards.
    """
    before: dict[str, Any] = {}
    extended: Any = getattr(strategy, "extended", None)
    if extended is not None and not (CLUSTERS and multi_worker(extended)):
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


class ReplicasSaver(v1.train.Saver):
    """A saver that takes several values of a variable together when it saves."""

    # Variables that are saved, and those whose values they are given.
    merged: tuple[tuple[Any, Any], ...] = ()
    strategy: Any = None

    def save(self, *args: Any, **kwargs: Any) -> Any:
        """Saves the values that variables have now."""
        with tf.init_scope():
            for saved, variable in self.merged:
                saved.assign(value_of_all(variable, self.strategy))
        return super().save(*args, **kwargs)


def value_of_all(variable: Any, strategy: Any) -> Any:
    """One value of a variable that each replica has updated on its own."""
    total = tf.add_n([one.read_value() for one in variable.values])
    if CLUSTERS:
        total = workers_of(strategy).total(total)
    if variable.aggregation == tf.VariableAggregation.SUM:
        return total
    return tf.cast(total / strategy.num_replicas_in_sync, total.dtype)


def has_own_values(variable: Any) -> bool:
    """Each replica updates it on its own, such as a moving average of its batches."""
    strategy = getattr(variable, "distribute_strategy", None)
    return (
        strategy is not None
        and strategy.num_replicas_in_sync > 1
        and hasattr(variable, "values")
        and variable.synchronization == tf.VariableSynchronization.ON_READ
        and variable.aggregation
        in (tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN)
    )


def saved_of_replicas(
    variables: Mapping[str, Any], strategy: Any
) -> tuple[dict[str, Any], Any]:
    """What stands for variables where they are saved, and the kind of saver."""
    saved: dict[str, Any] = {}
    merged = []
    for name, variable in variables.items():
        saved[name] = strategy.experimental_local_results(variable)[0]
        if has_own_values(variable):
            with tf.init_scope():
                saved[name] = tf.Variable(saved[name], trainable=False)
            merged.append((saved[name], variable))
    members = {"merged": tuple(merged), "strategy": strategy}
    return saved, type("Saver", (ReplicasSaver,), members)
