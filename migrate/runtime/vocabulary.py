"""The words of a training program: modes, specifications, settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from .asked import EXPORTS, HOOKS

# What is kept of TensorFlow 1: collections, savers, event files, hooks.
v1 = tf.compat.v1

logger = tf.get_logger()


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class SpecFields(NamedTuple):
    """The fields of an EstimatorSpec."""

    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    # Where nobody asks for what follows, nobody gives it.
    export_outputs: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None


class EstimatorSpec(SpecFields):
    """What a model function hands back."""

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL) and loss is None:
            raise ValueError("Missing loss.")
        if mode == ModeKeys.PREDICT and predictions is None:
            raise ValueError("Missing predictions.")
        if loss is not None:
            if loss.shape.num_elements() not in (None, 1):
                raise ValueError(f"Loss must be scalar, given: {loss}")
            if loss.shape.rank:
                loss = tf.reshape(loss, [])
        for name, metric in (eval_metric_ops or {}).items():
            if not hasattr(metric, "result") and len(metric) != 2:
                raise TypeError(
                    "Values of eval_metric_ops must be (metric_value, update_op) "
                    f"tuples, given: {metric} for key: {name}"
                )
        fields: dict[str, Any] = {
            "mode": mode,
            "predictions": {} if predictions is None else predictions,
            "loss": loss,
            "train_op": train_op,
            "eval_metric_ops": dict(eval_metric_ops or {}),
        }
        if EXPORTS:
            fields["export_outputs"] = export_outputs
        if HOOKS:
            fields["training_chief_hooks"] = checked_hooks(training_chief_hooks)
            fields["training_hooks"] = checked_hooks(training_hooks)
            fields["scaffold"] = v1.train.Scaffold() if scaffold is None else scaffold
            fields["evaluation_hooks"] = checked_hooks(evaluation_hooks)
            fields["prediction_hooks"] = checked_hooks(prediction_hooks)
        return super().__new__(cls, **fields)


def check_no_hooks(hooks: Any) -> None:
    """Refuses hooks where no file of the project has a word of them."""
    if hooks:
        raise TypeError(
            "This loop was written for programs without hooks. Rewrite the program "
            "with `tfmigrate rewrite --whole-module`, and it knows them."
        )


def checked_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    """The hooks, each of which has to be one."""
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, v1.train.SessionRunHook):
            raise TypeError(
                f"All hooks must be `SessionRunHook` instances, given: {hook}"
            )
    return found


class TrainFields(NamedTuple):
    """The fields of a TrainSpec."""

    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...] = ()
    saving_listeners: tuple[Any, ...] = ()


class TrainSpec(TrainFields):
    """What to train on, and until which step."""

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        saving_listeners: Iterable[Any] | None = None,
    ) -> TrainSpec:
        check_callable(input_fn)
        check_positive("max_steps", max_steps)
        fields: dict[str, Any] = {"input_fn": input_fn, "max_steps": max_steps}
        if HOOKS:
            fields["hooks"] = checked_hooks(hooks)
            fields["saving_listeners"] = tuple(saving_listeners or ())
        return super().__new__(cls, **fields)


class EvalFields(NamedTuple):
    """The fields of an EvalSpec."""

    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...] = ()
    exporters: tuple[Any, ...] = ()
    start_delay_secs: float = 120
    throttle_secs: float = 600


class EvalSpec(EvalFields):
    """What to evaluate on, how often at most, and what to export after."""

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        check_callable(input_fn)
        check_positive("steps", steps)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        for label, value in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if value < 0:
                raise ValueError(f"Must specify {label} >= 0, given: {value}")
        fields: dict[str, Any] = {"input_fn": input_fn, "steps": steps, "name": name}
        if HOOKS:
            fields["hooks"] = checked_hooks(hooks)
        if EXPORTS:
            fields["exporters"] = checked_exporters(exporters)
        return super().__new__(
            cls,
            **fields,
            start_delay_secs=start_delay_secs,
            throttle_secs=throttle_secs,
        )


def check_callable(input_fn: Any) -> None:
    """An input function is passed, not called."""
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def check_positive(name: str, steps: int | None) -> None:
    """A number of steps is at least one, or not given."""
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {steps}")


def checked_exporters(exporters: Any) -> tuple[Any, ...]:
    """The exporters as a tuple; each writes into the directory that it names."""
    if not exporters:
        return ()
    found = (exporters,) if hasattr(exporters, "export") else exporters
    if not isinstance(found, Iterable) or not all(hasattr(e, "export") for e in found):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, "
            f"found {exporters}."
        )
    found = tuple(found)
    names = [exporter.name for exporter in found]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. "
                f"All exporter names: {names}"
            )
        if not isinstance(name, str):
            raise ValueError(
                f"An Exporter must have a string name. Given: {type(name)}"
            )
    if len(set(names)) < len(names):
        raise ValueError(
            "`exporters` must have unique names. Such a name cannot be `None`. "
            f"All exporter names: {names}"
        )
    return found
