"""Callbacks that look on while a model is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from . import callbacks
from .callbacks import Callback
from .core import split


class Trainer(callbacks.Trainer):
    """A trainer whose evaluations are looked at, batch by batch."""

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Callback] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Returns the metrics of a checkpoint, its mean loss and its step."""
        dataset = self._dataset(input_fn, "eval")
        self._prepare(split(dataset.element_spec)[0], checkpoint_path)
        for metric in (*self.task.metrics, self.mean_loss):
            metric.reset_state()
        hooks = list(hooks or ())
        self._tell(hooks, "begin")
        for step, batch in enumerate(self._iterator(dataset.take(int(steps or -1)))):
            self._tell(hooks, "before_step", step)
            self._test(batch)
            self._tell(hooks, "after_step", step + 1, {})
        self._tell(hooks, "end")
        metrics = (*self.task.metrics, self.mean_loss)
        results = {metric.name: metric.result().numpy() for metric in metrics}
        results["global_step"] = self.global_step
        self._report(results, name)
        return results

    @tf.function
    def _test(self, batch: Any) -> None:
        self._run(self._test_step, batch)
