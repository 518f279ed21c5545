"""The figures of all evaluations, kept in a file for early stopping."""

from __future__ import annotations

import json
from typing import Any

import tensorflow as tf

from . import core


class Trainer(core.Trainer):
    """A trainer that remembers its evaluations."""

    def eval_dir(self, name: str | None = None) -> str:
        """Returns the folder of the evaluations of a name."""
        return f"{self.model_dir}/eval_{name}" if name else f"{self.model_dir}/eval"

    def evaluations(self, eval_dir: str | None = None) -> dict[int, dict[str, float]]:
        """Returns the figures of all evaluations in a folder, by their steps."""
        path = f"{eval_dir or self.eval_dir()}/evaluations.json"
        if not tf.io.gfile.exists(path):
            return {}
        with tf.io.gfile.GFile(path) as file:
            return {int(step): known for step, known in json.load(file).items()}

    def _report(self, results: dict[str, Any], name: str | None) -> None:
        """Logs the figures of an evaluation, and keeps them."""
        super()._report(results, name)
        known = self.evaluations(self.eval_dir(name))
        known[results["global_step"]] = {k: float(v) for k, v in results.items()}
        tf.io.gfile.makedirs(self.eval_dir(name))
        with tf.io.gfile.GFile(f"{self.eval_dir(name)}/evaluations.json", "w") as file:
            json.dump(known, file)
