"""Callbacks that a task brings along."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import callbacks, core
from .callbacks import Callback


class Task(core.Task):
    """A task that looks on while it is trained."""

    callbacks: Any = ()


class Trainer(callbacks.Trainer):
    """A trainer that calls them, too."""

    task: Task

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Callback] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
    ) -> callbacks.Trainer:
        """Trains from the latest checkpoint on, until data or steps are over."""
        hooks = [*(hooks or ()), *self.task.callbacks]
        return super().train(input_fn, hooks, steps, max_steps)
