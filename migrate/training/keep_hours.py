"""Checkpoints that are kept for good, every so many hours."""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from . import core


@dataclasses.dataclass(frozen=True)
class RunConfig(core.RunConfig):
    """Settings that say how often."""

    keep_checkpoint_every_n_hours: float = 10000


class Trainer(core.Trainer):
    """A trainer that keeps some checkpoints."""

    config: RunConfig

    def _start(self, step: int) -> None:
        """Makes what keeps checkpoints, and saves the first where there is none."""
        self.manager = tf.train.CheckpointManager(
            self.checkpoint,
            self.model_dir,
            max_to_keep=self.config.keep_checkpoint_max or None,
            keep_checkpoint_every_n_hours=self.config.keep_checkpoint_every_n_hours,
            checkpoint_name="model.ckpt",
        )
        if not self.latest_checkpoint():
            self.manager.save(step)
