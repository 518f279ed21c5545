"""What a task predicts."""

from __future__ import annotations

from typing import Any

from . import core


class Task(core.Task):
    """A task that predicts."""

    def predictions(self, features: Any, outputs: Any) -> Any:
        """Returns what is predicted for a batch: a dict by name, or one tensor."""
        return {"output": outputs}
