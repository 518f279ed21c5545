"""Classifiers and regressors with the metrics that those of tf.contrib.learn had."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras

from .heads import Head, class_ids, numbers
from .metrics import TrapezoidalAUC


class LearnHead(Head):
    """Trains a model on the mean of the losses of examples."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # The mean loss of batches takes the place of that of examples.
        self.metrics[0] = tf_keras.metrics.Mean("loss")


class LearnClassifier(LearnHead):
    """Tells classes by a logit for each."""

    def more_metrics(self) -> list[Any]:
        return [tf_keras.metrics.SparseCategoricalAccuracy("accuracy")]

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        ids = class_ids(labels, self.label_vocabulary)
        losses = tf_keras.losses.sparse_categorical_crossentropy(ids, outputs, True)
        return [(losses[:, tf.newaxis],), (ids, outputs)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        ids, names = tf.argmax(outputs, axis=-1), self.label_vocabulary
        return {
            "logits": outputs,
            "probabilities": tf.nn.softmax(outputs),
            "classes": ids if names is None else tf.gather(names, ids),
        }


class LearnBinaryClassifier(LearnHead):
    """Tells two classes by one logit."""

    def more_metrics(self) -> list[Any]:
        kind = "threshold_0.500000_mean"
        return [
            tf_keras.metrics.Accuracy("accuracy"),
            tf_keras.metrics.Accuracy(f"accuracy/{kind}"),
            tf_keras.metrics.Precision(name=f"precision/positive_{kind}"),
            tf_keras.metrics.Recall(name=f"recall/positive_{kind}"),
            tf_keras.metrics.AUC(name="auc"),
            TrapezoidalAUC(curve="PR", name="auc_precision_recall"),
            tf_keras.metrics.Mean("labels/prediction_mean"),
            tf_keras.metrics.Mean("labels/actual_label_mean"),
            tf_keras.metrics.Mean("accuracy/baseline_label_mean"),
        ]

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        labels = tf.cast(class_ids(labels, self.label_vocabulary), tf.float32)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=outputs)
        scores = tf.sigmoid(outputs)
        told, scored = [(labels, outputs > 0), (labels, outputs >= 0)], (labels, scores)
        return [(losses,), *told, *[scored] * 4, (scores,), (labels,), (labels,)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        both = tf.concat([tf.zeros_like(outputs), outputs], axis=-1)
        return {
            "logits": outputs,
            "logistic": tf.sigmoid(outputs),
            "probabilities": tf.nn.softmax(both),
            "classes": tf.argmax(both, axis=-1),
        }


class LearnRegressor(LearnHead):
    """Tells numbers."""

    def more_metrics(self) -> list[Any]:
        return []

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        labels = numbers(labels, outputs)
        return [(tf.math.squared_difference(outputs, labels),)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        return {"scores": outputs[:, 0] if outputs.shape[-1] == 1 else outputs}
