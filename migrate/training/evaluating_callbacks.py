"""Callbacks that evaluate, predict or export."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from . import callbacks
from .callbacks import Callback


class Trainer(callbacks.Trainer):
    """A trainer that goes on as it was when callbacks have restored a checkpoint."""

    telling = False  # whether callbacks are being called
    live: str | None = None  # where the model is kept while they evaluate

    def restore(self, path: str) -> None:
        """Sets all variables as a checkpoint has them, but for the learning rate."""
        if self.telling and not self.live:
            self.live = self.checkpoint.write(tempfile.mkdtemp() + "/live")
        super().restore(path)

    def _tell(self, hooks: Iterable[Callback], event: str, *values: Any) -> None:
        """Calls callbacks; whatever they restore, training goes on as it was."""
        within, self.telling = self.telling, True
        super()._tell(hooks, event, *values)
        self.telling = within  # an evaluation of a callback has callbacks of its own
        if self.live and not within:
            self.checkpoint.read(self.live)
            tf.io.gfile.rmtree(os.path.dirname(self.live))
            self.live = None
