"""Event files: of losses, rates, what a task summarizes, and evaluations."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import tensorflow as tf

from . import core
from .core import NEVER, logger

SCALARS = tf.compat.v1.SummaryMetadata(plugin_data={"plugin_name": "scalars"})


@dataclasses.dataclass(frozen=True)
class RunConfig(core.RunConfig):
    """Settings that say how often."""

    save_summary_steps: int | None = 100


class Trainer(core.Trainer):
    """A trainer that writes event files."""

    config: RunConfig

    writer: Any = None

    def _start(self, step: int) -> None:
        """Makes what keeps checkpoints, and saves the first where there is none."""
        super()._start(step)
        self.writer = self.writer or tf.summary.create_file_writer(self.model_dir)
        self.logged = step, time.time()

    def _log(self, step: int, loss: float) -> None:
        if math.isnan(loss):
            raise FloatingPointError(f"The loss is not a number after step {step}.")
        if step % (self.config.log_step_count_steps or NEVER) == 0:
            logger.info("loss = %.6g, step = %d", loss, step)
            (last, since), self.logged = self.logged, (step, time.time())
            rate = (step - last) / (time.time() - since)
            with self.writer.as_default(step):
                tf.summary.write("global_step/sec", rate, metadata=SCALARS)

    def _report(self, results: dict[str, Any], name: str | None) -> None:
        """Logs the figures of an evaluation, and writes them to an event file."""
        super()._report(results, name)
        folder = f"{self.model_dir}/eval_{name}" if name else f"{self.model_dir}/eval"
        with tf.summary.create_file_writer(folder).as_default(results["global_step"]):
            for tag in results.keys() - {"global_step"}:
                tf.summary.write(tag, results[tag], metadata=SCALARS)

    def _train_step(self, batch: Any) -> Any:
        """Takes a step, and writes summaries of some."""
        step = tf.identity(self.task.optimizer.iterations)
        every = self.config.save_summary_steps
        due = step % every == 0 if every else False
        writing = self.writer.as_default(step + 1)
        with writing, tf.summary.record_if(due), tf.name_scope(""):
            values = super()._train_step(batch)
            tf.summary.write("loss", values["loss"], metadata=SCALARS)
        return values
