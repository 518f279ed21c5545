"""Tasks that only need a model: classifiers and regressors, with their metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from .metrics import TrapezoidalAUC
from .sum_loss import Task


class Head(Task):
    """Trains a model on the losses of examples, whose weights may be a feature."""

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        weight_column: str | None = None,
        label_vocabulary: Sequence[str] | None = None,
        reduction: Callable[[Any], Any] = tf.reduce_sum,
        interpolated: bool = False,
    ) -> None:
        self.model, self.optimizer = model, optimizer
        self.weight_column, self.label_vocabulary = weight_column, label_vocabulary
        self.reduction, self.interpolated = reduction, interpolated
        self.summed = reduction is tf.reduce_sum
        self.metrics = [tf_keras.metrics.Mean("average_loss"), *self.more_metrics()]

    def more_metrics(self) -> list[Any]:
        """Makes the metrics besides the mean loss of an example."""
        return []

    def precision_recall_auc(self) -> Any:
        """Makes the metric of the area below that curve, interpolated or straight."""
        kind = tf_keras.metrics.AUC if self.interpolated else TrapezoidalAUC
        return kind(curve="PR", name="auc_precision_recall")

    def losses(self, labels: Any, outputs: Any) -> Any:
        """Returns the loss of each example, [B, 1]."""
        raise NotImplementedError

    def weights(self, features: Any) -> Any:
        """Returns the weight of each example, [B, 1], or None."""
        if self.weight_column is None:
            return None
        return tf.reshape(tf.cast(features[self.weight_column], tf.float32), [-1, 1])

    def loss(self, features: Any, labels: Any, outputs: Any) -> Any:
        losses, weights = self.losses(labels, outputs), self.weights(features)
        return self.reduction(losses if weights is None else losses * weights)

    def update_metrics(self, features: Any, labels: Any, outputs: Any) -> None:
        weights = self.weights(features)
        self.metrics[0].update_state(self.losses(labels, outputs), weights)
        pairs = self.compared(labels, outputs)
        for metric, values in zip(self.metrics[1:], pairs, strict=True):
            metric.update_state(*values, sample_weight=weights)

    def compared(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        """Returns what each of `more_metrics` is given for a batch."""
        return []

    def class_ids(self, labels: Any) -> Any:
        """Returns the numbers of the classes that are the labels, [B, 1]."""
        labels = tf.reshape(labels, [-1, 1])
        if self.label_vocabulary is None:
            return labels
        return tf.where(labels == self.label_vocabulary)[:, 1:]

    def classes(self, logits: Any, class_ids: Any, count: int) -> dict[str, Any]:
        """Returns the predictions that name classes."""
        batch_size, all_ids = tf.shape(logits)[0], tf.range(count)
        names = self.label_vocabulary or tf.strings.as_string(all_ids)
        return {
            "class_ids": class_ids,
            "classes": tf.gather(names, class_ids),
            "all_class_ids": tf.tile([all_ids], [batch_size, 1]),
            "all_classes": tf.tile([names], [batch_size, 1]),
        }


class Classifier(Head):
    """Tells classes by a logit for each."""

    def more_metrics(self) -> list[Any]:
        return [tf_keras.metrics.SparseCategoricalAccuracy("accuracy")]

    def losses(self, labels: Any, outputs: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self.class_ids(labels)[:, 0], logits=outputs
        )[:, tf.newaxis]

    def compared(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        return [(self.class_ids(labels), outputs)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        class_ids = tf.argmax(outputs, axis=-1)[:, tf.newaxis]
        return {
            "logits": outputs,
            "probabilities": tf.nn.softmax(outputs),
            **self.classes(outputs, class_ids, outputs.shape[-1]),
        }


class BaselineAccuracy(tf_keras.metrics.Mean):
    """The accuracy of always telling the more frequent class."""

    def result(self) -> Any:
        share = super().result()
        return tf.maximum(share, 1 - share)


class BinaryClassifier(Head):
    """Tells two classes by one logit."""

    def more_metrics(self) -> list[Any]:
        return [
            tf_keras.metrics.Accuracy("accuracy"),
            tf_keras.metrics.Precision(name="precision"),
            tf_keras.metrics.Recall(name="recall"),
            tf_keras.metrics.AUC(name="auc"),
            self.precision_recall_auc(),
            tf_keras.metrics.Mean("prediction/mean"),
            tf_keras.metrics.Mean("label/mean"),
            BaselineAccuracy("accuracy_baseline"),
        ]

    def losses(self, labels: Any, outputs: Any) -> Any:
        labels = tf.cast(self.class_ids(labels), tf.float32)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=outputs)

    def compared(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        labels, probabilities = self.class_ids(labels), tf.sigmoid(outputs)
        told, scored = (labels, outputs > 0), (labels, probabilities)
        pairs = [told, told, told, scored, scored]
        return [*pairs, (probabilities,), (labels,), (labels,)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        both = tf.concat([tf.zeros_like(outputs), outputs], axis=-1)
        return {
            "logits": outputs,
            "logistic": tf.sigmoid(outputs),
            "probabilities": tf.nn.softmax(both),
            **self.classes(outputs, tf.cast(outputs > 0, tf.int64), 2),
        }


class MultiLabelClassifier(Head):
    """Tells by a logit for each class whether an example is of it."""

    def more_metrics(self) -> list[Any]:
        return [
            tf_keras.metrics.AUC(name="auc"),
            self.precision_recall_auc(),
        ]

    def losses(self, labels: Any, outputs: Any) -> Any:
        labels = tf.cast(labels, tf.float32)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=outputs)
        return tf.reduce_mean(losses, axis=-1, keepdims=True)

    def compared(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        return [(labels, tf.sigmoid(outputs))] * 2

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        return {"logits": outputs, "probabilities": tf.sigmoid(outputs)}


class Regressor(Head):
    """Tells numbers."""

    def more_metrics(self) -> list[Any]:
        names = ("prediction/mean", "label/mean")
        return [tf_keras.metrics.Mean(name) for name in names]

    def values(self, outputs: Any) -> Any:
        """Returns the numbers that outputs of the model stand for."""
        return outputs

    def numbers(self, labels: Any, outputs: Any) -> Any:
        """Returns the labels in the shape of the outputs."""
        return tf.reshape(tf.cast(labels, tf.float32), tf.shape(outputs))

    def losses(self, labels: Any, outputs: Any) -> Any:
        return tf.math.squared_difference(outputs, self.numbers(labels, outputs))

    def compared(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        return [(self.values(outputs),), (self.numbers(labels, outputs),)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        return {"predictions": outputs}


class PoissonRegressor(Regressor):
    """Tells counts by the logarithms of their means."""

    def values(self, outputs: Any) -> Any:
        return tf.exp(outputs)

    def losses(self, labels: Any, outputs: Any) -> Any:
        labels = self.numbers(labels, outputs)
        return tf.nn.log_poisson_loss(labels, outputs, compute_full_loss=True)

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        return {"predictions": self.values(outputs), "logits": outputs}
