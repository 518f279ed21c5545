"""``tf.estimator.experimental``: the part that is about runs, not models."""

from __future__ import annotations

from .early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from .export import build_raw_supervised_input_receiver_fn
from .memory_evaluator import InMemoryEvaluatorHook
from .spec import call_logit_fn
from .stop_hooks import make_stop_at_checkpoint_step_hook

__all__ = [
    "InMemoryEvaluatorHook",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]
