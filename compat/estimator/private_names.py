"""Helpers that TF 1.x kept private and programs imported all the same.

``from tensorflow.python.estimator.util import fn_args`` and its like: found in
published libraries, so the doors to private modules answer with what is here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine.event_files import write_evaluation as _write_dict_to_summary
from ..engine.inputs import features_and_labels as parse_iterator_result
from ..engine.inputs import input_of
from .canned.optimizers import legacy_optimizer
from .checks import checked_hooks as _check_hooks_type
from .checks import checked_listeners as _check_listeners_type
from .early_stopping import _StopOnPredicateHook, read_eval_metrics
from .estimator import EstimatorV2, maybe_overwrite_model_dir_and_session_config
from .heads import legacy
from .heads.keys import MetricKeys, PredictionKeys
from .heads.sequential import SequentialHeadWrapper

__all__ = [
    "EstimatorV2",
    "MetricKeys",
    "PredictionKeys",
    "SequentialHeadWrapper",
    "_Head",
    "_StopOnPredicateHook",
    "_binary_logistic_head_with_sigmoid_cross_entropy_loss",
    "_binary_logistic_or_multi_class_head",
    "_check_hooks_type",
    "_check_listeners_type",
    "_multi_class_head_with_softmax_cross_entropy_loss",
    "_regression_head",
    "_write_dict_to_summary",
    "fn_args",
    "get_optimizer_instance",
    "has_kwargs",
    "maybe_overwrite_model_dir_and_session_config",
    "parse_input_fn_result",
    "parse_iterator_result",
    "read_eval_metrics",
]

# Heads as canned models made them: their loss is a sum.
_summed = functools.partial(functools.partial, loss_reduction=tf.losses.Reduction.SUM)
_binary_logistic_head_with_sigmoid_cross_entropy_loss = _summed(
    legacy.binary_classification_head
)
_multi_class_head_with_softmax_cross_entropy_loss = _summed(legacy.multi_class_head)
_regression_head = _summed(legacy.regression_head)
_binary_logistic_or_multi_class_head = legacy.binary_or_multi_class_head


def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that a caller of ``fn`` can still give."""
    if isinstance(fn, functools.partial):
        free = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in free if name not in fn.keywords)
    if not (inspect.isfunction(fn) or inspect.ismethod(fn) or inspect.isclass(fn)):
        fn = getattr(fn, "__call__", fn)  # noqa: B004 - the method is wanted
    names = inspect.getfullargspec(fn).args
    return tuple(names[1:] if inspect.ismethod(fn) else names)


def has_kwargs(fn: Callable[..., Any]) -> bool:
    """Whether ``fn`` takes any keyword."""
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif not (inspect.isfunction(fn) or inspect.ismethod(fn)):
        fn = getattr(fn, "__call__", fn)  # noqa: B004 - the method is wanted
    return inspect.getfullargspec(fn).varkw is not None


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels and hooks of what an input function returned."""
    found = input_of(result)
    return found.features, found.labels, list(found.hooks)


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """The optimizer itself, or a new one for one of the names of canned models."""
    if isinstance(opt, str) and not learning_rate:
        raise ValueError("learning_rate must be specified when opt is string.")
    return legacy_optimizer(opt, learning_rate=learning_rate or 0.0)


class _Head:
    """Base of heads that programs write for themselves: it has nothing to give.

    In TF 1.x it named the methods that a head needs, without any body.
    """
