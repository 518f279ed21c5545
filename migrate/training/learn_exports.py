"""What exports of heads serve whose metrics are those of tf.contrib.learn."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import exports, learn_heads


class LearnHead(learn_heads.LearnHead, exports.Task):
    """Trains a model on the mean of the losses of examples."""

    def exports(self, features: Any, outputs: Any) -> dict[str, dict[str, Any]]:
        """Returns the answer to serialized examples, and that to tensors."""
        found = self.predictions(features, outputs)
        if "scores" in found:
            return {"examples": {"outputs": found["scores"]}, "tensors": found}
        scores = found["probabilities"]
        names = tf.strings.as_string(tf.range(scores.shape[-1]))
        names = tf.tile([self.label_vocabulary or names], [tf.shape(scores)[0], 1])
        tensors = {"classes": names, "probabilities": scores}
        return {"examples": {"classes": names, "scores": scores}, "tensors": tensors}


class Trainer(exports.Trainer):
    """A trainer that exports one of them, and the tasks that others are."""

    def _signatures(self, receiver: Any) -> Any:
        """Returns the functions that an export answers by."""
        if not isinstance(self.task, LearnHead):
            return super()._signatures(receiver)
        specs, given = receiver.input_signature, "tensors"
        if len(specs) == 1 and getattr(specs[0], "dtype", None) == tf.string:
            specs = [tf.TensorSpec(specs[0].shape, tf.string, "inputs")]
            given = "examples"

        @tf.function(input_signature=specs)
        def serve(*inputs: Any) -> Any:
            features = receiver(*inputs)
            outputs = self.task.forward(features, training=False)
            return self.task.exports(features, outputs)[given]

        return serve
