"""The values of weights by their names."""

from __future__ import annotations

from typing import Any

from . import core


class Trainer(core.Trainer):
    """A trainer that is asked for weights."""

    def get_variable_value(self, name: str) -> Any:
        """Returns a weight of the latest checkpoint, by the end of its name."""
        self.restore(self.latest_checkpoint())
        weights = self.task.model.weights
        found = [w for w in weights if f"/{w.name}".endswith(f"/{name}:0")]
        if len(found) != 1:
            raise ValueError(f"The model has {len(found)} weights {name} so far.")
        return found[0].numpy()
