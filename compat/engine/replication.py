"""Building a model function once per replica of a V2 strategy, in a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from . import private_api
from .devices import cpu_device_count

__all__ = [
    "call_for_each_replica",
    "first_replica",
    "graph_strategy",
    "local_results",
    "reported_loss",
    "session_config_for",
]


def session_config_for(strategy: Any, session_config: Any) -> Any:
    """``session_config`` with as many CPU devices as the strategy's replicas use."""
    needed = cpu_device_count(strategy)
    if needed <= 1:
        return session_config
    config = tf.ConfigProto()
    if session_config is not None:
        config.CopyFrom(session_config)
    config.device_count["CPU"] = max(needed, config.device_count.get("CPU", 0))
    return config


@contextlib.contextmanager
def graph_strategy(strategy: Any, *, scale_loss: bool = True) -> Iterator[None]:
    """The strategy as a graph program needs it; the user's object is restored.

    - Loss scaling: v1 optimizers sum gradients over replicas unless the
      strategy says that an Estimator is running. Without it training is N
      times too fast, silently. (``scale_loss=False`` is for models whose loss
      is divided by the number of replicas already.)
    - Cross-device operations: the default collectives never finish in one
      graph with several logical CPU devices.
    """
    extended = strategy.extended
    replaced: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        for name in ("_cross_device_ops", "_inferred_cross_device_ops"):
            current = getattr(extended, name, None)
            if private_api.is_in_graph_collective(strategy, current):
                replaced[name] = current
                setattr(extended, name, _cross_device_ops(strategy))
        if scale_loss and hasattr(strategy, "_scale_loss_for_estimator_enabled"):
            stack.enter_context(strategy._scale_loss_for_estimator_enabled())
        stack.enter_context(strategy.scope())
        try:
            yield
        finally:
            for name, value in replaced.items():
                setattr(extended, name, value)


def _cross_device_ops(strategy: Any) -> Any:
    devices = strategy.extended.worker_devices
    if len(devices) > 1 and all("GPU" in d.upper() for d in devices):
        return tf.distribute.NcclAllReduce()
    return tf.distribute.ReductionToOneDevice()


def call_for_each_replica(
    strategy: Any, fn: Callable[..., Any], args: tuple[Any, ...] = ()
) -> Any:
    """Calls ``fn`` once per replica, unconverted: legacy had no autograph here."""
    plain = tf.autograph.experimental.do_not_convert(fn)
    return strategy.extended.call_for_each_replica(plain, args=args)


def local_results(strategy: Any, value: Any) -> tuple[Any, ...]:
    """The value of each replica."""
    return tuple(strategy.experimental_local_results(value))


def first_replica(strategy: Any, value: Any) -> Any:
    """The value of the first replica."""
    return local_results(strategy, value)[0]


def reported_loss(strategy: Any, loss: Any) -> Any:
    """The one loss that hooks and summaries see.

    It is the mean over replicas when a v1 optimizer scaled the loss by their
    number, and the sum when nothing did (gradients were then summed, too).
    """
    scaled = getattr(tf.get_default_graph(), "_is_loss_scaled_by_optimizer", False)
    op = tf.distribute.ReduceOp.MEAN if scaled else tf.distribute.ReduceOp.SUM
    return strategy.reduce(op, loss, axis=None)
