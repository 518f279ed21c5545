"""The figures of all evaluations, kept in a file for early stopping."""

from __future__ import annotations

import json
from typing import Any

import tensorflow as tf

from . import core


class Trainer(core.Trainer):
    """A trainer that remembers its evaluations."""

    def evaluations(self) -> dict[int, dict[str, float]]:
        """Returns the figures of all evaluations without a name, by their steps."""
        path = f"{self.model_dir}/eval/evaluations.json"
        if not tf.io.gfile.exists(path):
            return {}
        with tf.io.gfile.GFile(path) as file:
            return {int(step): known for step, known in json.load(file).items()}

    def _report(self, results: dict[str, Any], name: str | None) -> None:
        """Logs the figures of an evaluation, and keeps them."""
        super()._report(results, name)
        if not name:
            known, folder = self.evaluations(), f"{self.model_dir}/eval"
            known[results["global_step"]] = {k: float(v) for k, v in results.items()}
            tf.io.gfile.makedirs(folder)
            with tf.io.gfile.GFile(f"{folder}/evaluations.json", "w") as file:
                json.dump(known, file)
