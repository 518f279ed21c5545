"""Training that begins with the weights of another checkpoint."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import core


class Trainer(core.Trainer):
    """A trainer that begins with the weights of another."""

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        warm_start_from: str | None = None,
    ) -> None:
        super().__init__(make_task, model_dir, config, params)
        self.warm_start_from = warm_start_from

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        super()._prepare(features, path)
        if self.warm_start_from and not (path or self.latest_checkpoint()):
            latest = tf.train.latest_checkpoint(self.warm_start_from)
            start = tf.train.Checkpoint(model=self.task.model)
            start.read(latest or self.warm_start_from).expect_partial()
