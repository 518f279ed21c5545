"""Training and evaluation by turns."""

from __future__ import annotations

import collections
import math
import time
from typing import Any

from . import listeners  # noqa: F401 evaluations follow what is saved

TrainSpec = collections.namedtuple("TrainSpec", "input_fn max_steps", defaults=(None,))
EvalSpec = collections.namedtuple(
    "EvalSpec",
    "input_fn steps name hooks exporters start_delay_secs throttle_secs",
    defaults=(100, None, None, None, 120, 600),
)


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
        input_fn, steps, name, *_ = eval_spec
        results, exports = trainer.evaluate(input_fn, steps, name=name), []

    def after_save(step: int) -> None:
        if time.time() >= began + eval_spec.throttle_secs:
            evaluate()
            # Training goes on from here, whatever the evaluation has changed.
            trainer.restore(evaluated)

    trainer.train(**train_spec._asdict(), saving_listeners=[after_save])
    if evaluated != trainer.latest_checkpoint():
        evaluate()
    return results, exports
