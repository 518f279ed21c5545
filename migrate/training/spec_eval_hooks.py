"""Callbacks of an EvalSpec."""

from __future__ import annotations

from typing import Any

from . import eval_hooks, specs  # noqa: F401 specs is extended


def evaluate_and_export(
    trainer: eval_hooks.Trainer, train_spec: Any, eval_spec: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Evaluates the latest checkpoint; returns its figures and what is exported."""
    input_fn, steps, name, hooks, *_ = eval_spec
    return trainer.evaluate(input_fn, steps, hooks, name=name), []
