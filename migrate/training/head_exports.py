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
