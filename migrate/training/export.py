"""Exports for serving."""

from __future__ import annotations

import time
from typing import Any

import tensorflow as tf

from . import predict


class Task(predict.Task):
    """A task that says what an export serves."""

    def exports(self, features: Any, outputs: Any) -> dict[str, dict[str, Any]]:
        """Returns what each signature of an export answers."""
        answer = self.predictions(features, outputs)
        answer = answer if isinstance(answer, dict) else {"output": answer}
        return {"serving_default": answer}


class Trainer(predict.Trainer):
    """A trainer that exports."""

    task: Task

    def export_saved_model(
        self, folder: str, receiver: Any, *, checkpoint_path: str | None = None
    ) -> str:
        """Saves a model for serving, in a new folder below one; returns which."""
        if not (checkpoint_path or self.latest_checkpoint()):
            raise ValueError(f"There is no checkpoint in {self.model_dir}.")
        features = receiver.get_concrete_function().structured_outputs
        self._prepare(features, checkpoint_path)

        def serve(*inputs: Any) -> Any:
            features = receiver(*inputs)
            outputs = self.task.forward(features, training=False)
            return self.task.exports(features, outputs)

        def signature(name: str) -> Any:
            return tf.function(lambda *inputs: serve(*inputs)[name], specs)

        specs = receiver.input_signature
        names = tf.function(serve, specs).get_concrete_function().structured_outputs
        module = tf.Module()
        module.model = self.task.model
        version = int(time.time())
        while tf.io.gfile.exists(f"{folder}/{version}"):
            version += 1
        unfinished = f"{folder}/temp-{version}"
        signatures = {name: signature(name) for name in names}
        tf.saved_model.save(module, unfinished, signatures)
        tf.io.gfile.rename(unfinished, f"{folder}/{version}")
        return f"{folder}/{version}"
