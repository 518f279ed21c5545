"""Experiments that export what they have trained."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import experiment


class Experiment(experiment.Experiment):
    """A trainer, what it is trained and evaluated on, and what exports it."""

    def __init__(
        self, trainer: Any, train_spec: Any, eval_spec: Any, exporters: Any = ()
    ) -> None:
        super().__init__(trainer, train_spec, eval_spec)
        self.exporters = tf.nest.flatten(exporters)

    def train_and_evaluate(self) -> tuple[Any, Any]:
        """Trains, evaluates checkpoints, exports; returns what both gave."""
        evaluated = super().train_and_evaluate()
        folder = f"{self.trainer.model_dir}/export/"
        found = [one.export(self.trainer, folder + one.name) for one in self.exporters]
        return evaluated[0], found
