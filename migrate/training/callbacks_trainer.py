"""Callbacks that know whose training they look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import callbacks


class Callback(callbacks.Callback):
    """Looks on while a model trains, and may end it."""

    trainer: Any


class Trainer(callbacks.Trainer):
    """A trainer that tells its callbacks who it is."""

    def _tell(
        self, hooks: Iterable[callbacks.Callback], event: str, *values: Any
    ) -> None:
        for hook in hooks:
            hook.trainer = self  # type: ignore[attr-defined]
            getattr(hook, event)(*values)
