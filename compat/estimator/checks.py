"""What ``Estimator`` checks of its arguments and of its subclasses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine import private_api
from ..engine.callables import argument_names
from . import cluster

__all__ = [
    "check_model_fn_arguments",
    "check_overrides",
    "check_trains_here",
    "checked_hooks",
    "checked_listeners",
]

_MODEL_FN_ARGUMENTS = {"features", "labels", "mode", "params", "self", "config"}

# What subclasses may replace; everything else they would break unknowingly.
_MAY_OVERRIDE = {
    "model_fn",
    "_create_and_assert_global_step",
    "_export_all_saved_models",
}


def check_overrides(base: type, instance: Any, also: Collection[str] = ()) -> None:
    """Refuses subclasses that replace members of Estimator they must not replace.

    ``also`` names what a generation lets them replace beside what all do.
    """
    if type(instance).__name__ == "TPUEstimator":
        return
    members = {n for n in dir(base) if not n.startswith("__")}
    own = members & set(type(instance).__dict__) - _MAY_OVERRIDE.union(also)
    overridden = [
        n for n in sorted(own) if getattr(base, n) != getattr(type(instance), n)
    ]
    if overridden:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{type(instance)} does override {overridden}"
        )


def check_model_fn_arguments(model_fn: Callable[..., Any], params: Any) -> None:
    """Refuses a model_fn that Estimator could not call."""
    names = set(argument_names(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params "
            f"({params}) is passed to Estimator."
        )
    if params is None and "params" in names:
        tf.logging.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not "
            "passed to Estimator.",
            model_fn,
        )
    unknown = sorted(names - _MODEL_FN_ARGUMENTS)
    if unknown:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {unknown}"
        )


def check_trains_here(config: Any) -> None:
    """Refuses to train one task of a cluster by itself under a strategy."""
    in_step = bool(config.cluster_spec) and cluster.is_collective(
        config.train_distribute
    )
    if (
        config._remote_cluster
        or config._awaiting
        or (in_step and private_api.cluster_context() is None)
    ):
        raise ValueError(
            "`Estimator.train` is not supported where a strategy trains in a cluster: "
            "call `tf.estimator.train_and_evaluate`, which lets all tasks begin "
            "together."
        )


def checked_hooks(hooks: Sequence[Any] | None) -> list[Any]:
    """The hooks as a list; refuses what is none."""
    found = list(hooks or [])
    for hook in found:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return found


def checked_listeners(listeners: Sequence[Any] | None) -> list[Any]:
    """The listeners as a list; refuses what is none."""
    found = list(listeners or [])
    for listener in found:
        if not isinstance(listener, tf.train.CheckpointSaverListener):
            raise TypeError(
                "saving_listeners must be a list of CheckpointSaverListener, "
                f"given: {listener}"
            )
    return found
