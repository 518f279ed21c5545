"""``TPUEstimatorSpec``: what the model function of a TPUEstimator hands back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from ...engine.callables import argument_names
from ..spec import EstimatorSpec

__all__ = ["TPUEstimatorSpec"]

# The collection in which writers of tf.contrib.summary register themselves.
_SUMMARY_WRITERS = "_SUMMARY_WRITER_V2"


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: tuple[Any, ...]
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


class TPUEstimatorSpec(_Fields):
    """Ops and functions of a model, in the form that a TPU system could run.

    ``eval_metrics`` and ``host_call`` are pairs of a function and its tensors;
    ``scaffold_fn`` is called on the CPU. Off TPU all of them run in the same
    graph as the model.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Callable[[], Any] | None = None,
        host_call: Any = None,
        training_hooks: Iterable[Any] | None = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> TPUEstimatorSpec:
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_call(name, call)
        hooks = [
            tuple(given or ())
            for given in (training_hooks, evaluation_hooks, prediction_hooks)
        ]
        for hook in (*hooks[0], *hooks[1], *hooks[2]):
            if not isinstance(hook, tf.train.SessionRunHook):
                raise TypeError(
                    f"All hooks must be SessionRunHook instances, given: {hook}"
                )
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            eval_metrics,
            export_outputs,
            scaffold_fn,
            host_call,
            *hooks,
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The same model for an ordinary Estimator."""
        metrics = None
        if self.eval_metrics is not None:
            metrics = _called("eval_metrics", self.eval_metrics)
        hooks: tuple[Any, ...] = ()
        if self.host_call is not None:
            hooks = (_HostCallHook(_called("host_call", self.host_call)),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_call(name: str, call: Any) -> None:
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, Mapping)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict")
    if isinstance(tensors, (tuple, list)):
        names = argument_names(function)
        takes_any = _takes_any(function)
        if not takes_any and len(tensors) != len(names):
            raise RuntimeError(
                f"In TPUEstimatorSpec.{name}, length of tensors does not match the "
                f"arguments of the function: {len(tensors)} tensors, arguments "
                f"{tuple(names)}."
            )


def _takes_any(function: Callable[..., Any]) -> bool:
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _called(name: str, call: Any) -> Any:
    function, tensors = call
    if isinstance(tensors, Mapping):
        try:
            return function(**tensors)
        except TypeError:
            tf.logging.warning(
                "The tensors of %s do not match the arguments of its function.", name
            )
            raise
    return function(*tensors)


class _HostCallHook(tf.train.SessionRunHook):
    """Runs the ops of ``host_call`` with every step, as legacy did off TPU.

    They are usually summaries of ``tf.contrib.summary``, whose writers have to
    be opened and flushed.
    """

    def __init__(self, tensors: Any) -> None:
        self._tensors = tensors

    def begin(self) -> None:
        """Finds the summary writers that the host call made."""
        self._open = tf.get_collection(_SUMMARY_WRITERS)
        self._flush = [
            tf.raw_ops.FlushSummaryWriter(writer=op.inputs[0]) for op in self._open
        ]

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writers."""
        del coord
        session.run(self._open)

    def before_run(self, run_context: Any) -> Any:
        """Adds the ops to the step."""
        del run_context
        return tf.train.SessionRunArgs(self._tensors)

    def end(self, session: Any) -> None:
        """Flushes the writers."""
        session.run(self._flush)
