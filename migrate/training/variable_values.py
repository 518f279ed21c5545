"""The values of variables that the latest checkpoint has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import core


class Trainer(core.Trainer):
    """A trainer that is asked for its variables."""

    def variable_value(self, choose: Callable[[Any], Any]) -> Any:
        """Returns what the latest checkpoint has for a variable of the model."""
        path = self.latest_checkpoint()
        if not path or not self.task.model.built:
            raise ValueError("The model has no variables yet: train or evaluate first.")
        self.restore(path)
        return choose(self.task.model).numpy()
