"""Callbacks that look on while checkpoints are saved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import callbacks


class Callback(callbacks.Callback):
    """Looks on while a model trains and is saved, and may end it by `should_stop`."""

    def before_save(self, step: int) -> None: ...
    def after_save(self, step: int) -> None: ...


class Trainer(callbacks.Trainer):
    """A trainer that tells its callbacks of the checkpoints that it saves."""

    hooks: list[Any]  # of the training that is going on

    def _hooks(self, hooks: Iterable[Any] | None) -> list[Any]:
        """Returns all callbacks of a training."""
        every = super()._hooks(hooks)
        self.hooks = every
        return every

    def _start(self, step: int) -> None:
        self._tell(self.hooks, "before_save", step)
        super()._start(step)
        self._tell(self.hooks, "after_save", step)
        for hook in self.hooks:
            hook.should_stop = False  # what comes first ends nothing

    def _save(self, step: int) -> None:
        self._tell(self.hooks, "before_save", step)
        super()._save(step)
        self._tell(self.hooks, "after_save", step)
