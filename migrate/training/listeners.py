"""Functions that are called when a checkpoint has been saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import core


class Trainer(core.Trainer):
    """A trainer that calls them."""

    def train(
        self,
        input_fn: Callable[..., Any],
        *,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[Callable[[int], Any]] = (),
    ) -> core.Trainer:
        """Trains from the latest checkpoint on, until data or steps are over."""
        self.saving_listeners = saving_listeners
        return super().train(input_fn, steps=steps, max_steps=max_steps)

    def _save(self, step: int) -> None:
        super()._save(step)
        for listener in self.saving_listeners or ():
            listener(step)
