"""Event files of a chief whose workers take the steps."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import parameter_servers
from .core import split
from .summaries import SCALARS


class Chief(parameter_servers.Chief):
    """Hands steps to workers, who may come and go, and saves."""

    config: Any
    writer: Any

    def _log(self, step: int, loss: float) -> None:
        super()._log(step, loss)
        every = self.config.save_summary_steps
        if every and (step - 1) % every == 0:
            with self.writer.as_default(step):
                tf.summary.write("loss", loss, metadata=SCALARS)

    def _train_step(self, batch: Any) -> dict[str, Any]:
        # Workers have no writer.
        values = self.strategy.run(self.task.train_step, args=split(batch))
        loss = self.strategy.reduce("MEAN", values["loss"], axis=None)
        return {**values, "loss": loss}
