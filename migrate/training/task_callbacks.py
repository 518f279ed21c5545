"""Callbacks that a task brings along."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import callbacks, core
from .callbacks import Callback


class Task(core.Task):
    """A task that looks on while it is trained."""

    callbacks: Any = ()


class Trainer(callbacks.Trainer):
    """A trainer that calls them, too."""

    task: Task

    def _hooks(self, hooks: Iterable[Callback] | None) -> list[Callback]:
        """Returns all callbacks of a training."""
        return [*(hooks or ()), *self.task.callbacks]
