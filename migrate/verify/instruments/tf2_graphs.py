"""Watches loops that keep a model_fn: its gradients are those of TensorFlow 1.

Such a loop traces its step once, before it runs; the variables are known then, and
their first values can be set before the first step.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from .legacy_weights import weight_names
from .tf2_probe import Probe, unconverted

__all__ = ["install"]


def install(probe: Probe) -> None:
    """Patch this process' TensorFlow; it is the program's own process."""
    _patch_wrap_function(probe)
    _patch_gradients(probe)
    _patch_optimizers(probe)
    _patch_init_from_checkpoint(probe)


def _patch_wrap_function(probe: Probe) -> None:
    original = tf.compat.v1.wrap_function

    @functools.wraps(original)
    def wrap_function(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        if tf.executing_eagerly() and probe.variables.trained:
            with made.graph.as_default():
                names = weight_names(tf.compat.v1)  # type: ignore[no-untyped-call]
                found = {_name(v): v for v in tf.compat.v1.global_variables()}
            probe.variables_made([found[name] for name in names])
        return made

    tf.compat.v1.wrap_function = wrap_function


def _name(variable: Any) -> str:
    return str(variable.name).partition(":")[0]


def _shares(loss: Any) -> list[Any]:
    """What a replica's losses add to the step's, if an optimizer takes the mean."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    return [one / replicas for one in tf.nest.flatten(loss)]


def _patch_gradients(probe: Probe) -> None:
    for module in (tf.compat.v1, tf):
        original = module.gradients

        def gradients(
            ys: Any, xs: Any, *args: Any, _original: Any = original, **kwargs: Any
        ) -> Any:
            def compute() -> Any:
                return _original(ys, xs, *args, **kwargs)

            # Nothing divides these: an Estimator reported their losses' sum.
            return _observed(probe, ys, xs, compute)

        module.gradients = unconverted(functools.wraps(original)(gradients))


def _patch_optimizers(probe: Probe) -> None:
    optimizer = tf.compat.v1.train.Optimizer
    original = optimizer.compute_gradients

    @functools.wraps(original)
    def compute_gradients(
        self: Any, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        if callable(loss):
            return original(self, loss, var_list, *args, **kwargs)
        variables: list[Any] = []

        def compute() -> Any:
            pairs = original(self, loss, var_list, *args, **kwargs)
            variables.extend(variable for _, variable in pairs)
            return [gradient for gradient, _ in pairs]

        trained = var_list or tf.compat.v1.trainable_variables()
        found = _observed(probe, _shares(loss), trained, compute)
        return list(zip(found, variables, strict=True))

    optimizer.compute_gradients = unconverted(compute_gradients)


def _patch_init_from_checkpoint(probe: Probe) -> None:
    train = tf.compat.v1.train
    original = train.init_from_checkpoint

    @functools.wraps(original)
    def init_from_checkpoint(*args: Any, **kwargs: Any) -> None:
        if not tf.compat.v1.get_default_graph().building_function:
            original(*args, **kwargs)
            return
        # What is loaded before the first step must not wait for a step's callback.
        with tf.control_dependencies(None):
            original(*args, **kwargs)
        if probe.gives_weights:
            # They are those after the load; it would come later and undo them.
            for variable in tf.compat.v1.global_variables():
                variable._initializer_op = None

    train.init_from_checkpoint = unconverted(init_from_checkpoint)


def _observed(probe: Probe, loss: Any, variables: Any, compute: Any) -> Any:
    if not probe.enter_gradient():
        return compute()
    try:
        return probe.gradient(loss, variables, compute)
    finally:
        probe.leave_gradient()
