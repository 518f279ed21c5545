"""What exports of heads serve."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import exports, heads


class Head(heads.Head, exports.Task):
    """Trains a model on the losses of examples, whose weights may be a feature."""

    def exports(self, features: Any, outputs: Any) -> dict[str, dict[str, Any]]:
        predictions = self.predictions(features, outputs)
        if "predictions" in predictions:
            answer = {"outputs": predictions["predictions"]}
            signatures = {"serving_default": answer, "regression": answer}
        else:
            scores = predictions["probabilities"]
            names = tf.strings.as_string(tf.range(scores.shape[-1]))
            batch_size = tf.shape(scores)[0]
            every_class = tf.tile([self.label_vocabulary or names], [batch_size, 1])
            answer = {"classes": every_class, "scores": scores}
            signatures = {"serving_default": answer, "classification": answer}
        if "logistic" in predictions:
            signatures["regression"] = {"outputs": predictions["logistic"]}
        return {**signatures, "predict": predictions}


class Trainer(exports.Trainer):
    """A trainer that exports all of them."""

    def _signatures(self, receiver: Any) -> dict[str, Any]:
        """Returns the functions that an export answers by."""
        specs = receiver.input_signature

        def serve(*inputs: Any) -> Any:
            features = receiver(*inputs)
            return self.task.exports(features, self.task.forward(features, False))

        def signature(name: str, given: Any) -> Any:
            return tf.function(lambda *inputs: serve(*inputs)[name], given)

        made = tf.function(serve, specs).get_concrete_function()
        found = dict.fromkeys(made.structured_outputs, specs)
        if isinstance(self.task, Head):
            # All but one take nothing but serialized examples, called inputs.
            found = {"predict": specs}
            if len(specs) == 1 and getattr(specs[0], "dtype", None) == tf.string:
                inputs = [tf.TensorSpec(specs[0].shape, tf.string, "inputs")]
                found = {**dict.fromkeys(made.structured_outputs, inputs), **found}
        return {name: signature(name, given) for name, given in found.items()}
