"""Callbacks that look at the steps of replicas."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import callbacks, replicas


class Trainer(callbacks.Trainer, replicas.Trainer):
    """A trainer whose callbacks see what the first replica shows."""

    @tf.function
    def _train(self, batch: Any) -> Any:
        """Trains on one batch of each replica; returns what the first one shows."""
        first = self.strategy.experimental_local_results
        return {key: first(value)[0] for key, value in self._train_step(batch).items()}
