"""Exports for serving."""

from __future__ import annotations

import time
from typing import Any

import tensorflow as tf
import tf_keras

from . import core, predictions

# Layers that look words up in tables of their own.
COLUMNS = (tf_keras.layers.DenseFeatures, tf_keras.experimental.SequenceFeatures)


class Trainer(core.Trainer):
    """A trainer that exports."""

    task: predictions.Task

    def export_saved_model(
        self, folder: str, receiver: Any, *, checkpoint_path: str | None = None
    ) -> str:
        """Saves a model for serving, in a new folder below one; returns which."""
        if not (checkpoint_path or self.latest_checkpoint()):
            raise ValueError(f"There is no checkpoint in {self.model_dir}.")
        features = receiver.get_concrete_function().structured_outputs
        self._prepare(features, checkpoint_path)
        names = tf.io.gfile.listdir(folder) if tf.io.gfile.isdir(folder) else []
        others = [int(one.strip("/")) for one in names if one.strip("/").isdigit()]
        version = max([int(time.time()), *(one + 1 for one in others)])
        path, unfinished = f"{folder}/{version}", f"{folder}/temp-{version}"
        signatures = self._signatures(receiver)
        module = self._exported()
        tf.saved_model.save(module, unfinished, signatures)
        tf.io.gfile.rename(unfinished, path)
        return path

    def _exported(self) -> Any:
        """Returns what holds all that an export needs: variables, tables of columns."""
        return tf.train.Checkpoint(
            variables=self.task.model.variables,
            columns=[n for n in self.task.model.submodules if isinstance(n, COLUMNS)],
        )

    def _signatures(self, receiver: Any) -> Any:
        """Returns the function that an export answers by."""

        @tf.function(input_signature=receiver.input_signature)
        def serve(*inputs: Any) -> Any:
            features = receiver(*inputs)
            outputs = self.task.forward(features, training=False)
            answer = self.task.predictions(features, outputs)
            return answer if isinstance(answer, dict) else {"output": answer}

        return serve
