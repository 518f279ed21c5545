"""Exporters of an EvalSpec."""

from __future__ import annotations

import math
import time
from typing import Any

import tensorflow as tf

from . import specs  # noqa: F401 it is extended


def train_and_evaluate(
    trainer: Any, train_spec: Any, eval_spec: Any
) -> tuple[Any, Any]:
    """Trains, and evaluates checkpoints; returns the last figures and exports."""
    results: Any
    exports: Any
    results = exports = None
    began, evaluated = -math.inf, trainer.latest_checkpoint()

    def evaluate() -> None:
        nonlocal results, exports, began, evaluated
        began, evaluated = time.time(), trainer.latest_checkpoint()
        input_fn, steps, name, _, exporters, *_ = eval_spec
        results = trainer.evaluate(input_fn, steps, name=name)
        final = results["global_step"] >= (train_spec.max_steps or math.inf)
        folder = f"{trainer.model_dir}/export/"
        exports = [
            one.export(trainer, folder + one.name, evaluated, results, final)
            for one in tf.nest.flatten(exporters or [])
        ]

    def after_save(step: int) -> None:
        if time.time() >= began + eval_spec.throttle_secs:
            evaluate()
            # Training goes on from here, whatever the evaluation has changed.
            trainer.restore(evaluated)

    trainer.train(**train_spec._asdict(), saving_listeners=[after_save])
    if evaluated != trainer.latest_checkpoint():
        evaluate()
    return results, exports
