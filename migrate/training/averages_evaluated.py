"""Evaluations of the moving averages in the place of the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import averages


class Trainer(averages.Trainer):
    """A trainer that evaluates the averages."""

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        self.mode = mode
        return super()._dataset(input_fn, mode)

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        super()._prepare(features, path)
        if self.mode == "eval":  # what trains next restores a checkpoint itself
            for variable in self.task.model.trainable_variables:
                variable.assign(self.task.averages.average(variable))
