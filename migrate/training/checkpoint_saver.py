"""A callback that saves checkpoints."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .callbacks_trainer import Callback
from .timer import StepTimer


class CheckpointSaver(Callback):
    """Saves checkpoints in a folder, every so many seconds or steps."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
    ) -> None:
        self.checkpoint_dir = checkpoint_dir
        self.timer = StepTimer(save_secs, save_steps)

    def begin(self) -> None:
        self.timer.reset()

    def before_step(self, step: int) -> None:
        if self.timer.last_triggered_step() is not None:
            return
        if self.checkpoint_dir == self.trainer.model_dir:
            self.manager = self.trainer.manager
        else:
            self.manager = tf.train.CheckpointManager(
                self.trainer.checkpoint,
                self.checkpoint_dir,
                max_to_keep=self.trainer.config.keep_checkpoint_max or None,
                checkpoint_name="model.ckpt",
            )
        self.save(step)

    def after_step(self, step: int, values: dict[str, Any]) -> None:
        if self.timer.should_trigger_for_step(step):
            self.save(step)

    def end(self) -> None:
        if self.trainer.global_step != self.timer.last_triggered_step():
            self.save(self.trainer.global_step)

    def save(self, step: int) -> None:
        """Saves a checkpoint."""
        self.timer.update_last_triggered_step(step)
        self.manager.save(step)
