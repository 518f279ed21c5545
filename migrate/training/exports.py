"""Exports with several signatures."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import export, predictions


class Task(predictions.Task):
    """A task that says what an export serves."""

    def exports(self, features: Any, outputs: Any) -> dict[str, dict[str, Any]]:
        """Returns what each signature of an export answers."""
        answer = self.predictions(features, outputs)
        answer = answer if isinstance(answer, dict) else {"output": answer}
        return {"serving_default": answer}


class Trainer(export.Trainer):
    """A trainer that exports all of them."""

    task: Task

    def _signatures(self, receiver: Any) -> dict[str, Any]:
        """Returns the functions that an export answers by."""
        specs = receiver.input_signature

        def serve(*inputs: Any) -> Any:
            features = receiver(*inputs)
            return self.task.exports(features, self.task.forward(features, False))

        def signature(name: str) -> Any:
            return tf.function(lambda *inputs: serve(*inputs)[name], specs)

        names = tf.function(serve, specs).get_concrete_function().structured_outputs
        return {name: signature(name) for name in names}
