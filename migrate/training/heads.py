"""Tasks that only need a model: classifiers and regressors, with their metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from .core import Task
from .metrics import TrapezoidalAUC


class Head(Task):
    """Trains a model on the losses of examples."""

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        label_vocabulary: Sequence[str] | None = None,
        reduction: Callable[[Any], Any] = tf.reduce_sum,
        pr_auc: Any = None,
    ) -> None:
        self.model, self.optimizer, self.reduction = model, optimizer, reduction
        self.label_vocabulary, self.pr_auc = label_vocabulary, pr_auc
        self.metrics = [tf_keras.metrics.Mean("average_loss"), *self.more_metrics()]

    def more_metrics(self) -> list[Any]:
        """Makes the metrics besides the mean loss of an example."""
        raise NotImplementedError

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        """Returns what metrics are given: first the losses of examples, [B, 1]."""
        raise NotImplementedError

    def loss(self, features: Any, labels: Any, outputs: Any) -> Any:
        return self.reduction(self.measured(labels, outputs)[0][0])

    def update_metrics(self, features: Any, labels: Any, outputs: Any) -> None:
        for metric, values in zip(self.metrics, self.measured(labels, outputs)):
            metric.update_state(*values)


class BaselineAccuracy(tf_keras.metrics.Mean):
    """The accuracy of always telling the more frequent class."""

    def result(self) -> Any:
        share = super().result()
        return tf.maximum(share, 1 - share)


def class_ids(labels: Any, vocabulary: Sequence[str] | None) -> Any:
    """Returns the numbers of the classes that labels name, [B, 1]."""
    labels = tf.reshape(labels, [-1, 1])
    return labels if vocabulary is None else tf.where(labels == vocabulary)[:, 1:]


def classes(probabilities: Any, ids: Any, vocabulary: Sequence[str] | None) -> Any:
    """Returns the predictions that name classes."""
    batch_size, all_ids = tf.shape(ids)[0], tf.range(probabilities.shape[-1])
    names = vocabulary or tf.strings.as_string(all_ids)
    return {
        "probabilities": probabilities,
        "class_ids": ids,
        "classes": tf.gather(names, ids),
        "all_class_ids": tf.tile([all_ids], [batch_size, 1]),
        "all_classes": tf.tile([names], [batch_size, 1]),
    }


class Classifier(Head):
    """Tells classes by a logit for each."""

    def more_metrics(self) -> list[Any]:
        return [tf_keras.metrics.SparseCategoricalAccuracy("accuracy")]

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        ids = class_ids(labels, self.label_vocabulary)
        losses = tf_keras.losses.sparse_categorical_crossentropy(ids, outputs, True)
        return [(losses[:, tf.newaxis],), (ids, outputs)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        ids = tf.argmax(outputs, axis=-1)[:, tf.newaxis]
        probabilities = tf.nn.softmax(outputs)
        return {
            "logits": outputs,
            **classes(probabilities, ids, self.label_vocabulary),
        }


class BinaryClassifier(Head):
    """Tells two classes by one logit."""

    def more_metrics(self) -> list[Any]:
        return [
            tf_keras.metrics.Accuracy("accuracy"),
            tf_keras.metrics.Precision(name="precision"),
            tf_keras.metrics.Recall(name="recall"),
            tf_keras.metrics.AUC(name="auc"),
            (self.pr_auc or TrapezoidalAUC)(curve="PR", name="auc_precision_recall"),
            tf_keras.metrics.Mean("prediction/mean"),
            tf_keras.metrics.Mean("label/mean"),
            BaselineAccuracy("accuracy_baseline"),
        ]

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        labels = tf.cast(class_ids(labels, self.label_vocabulary), tf.float32)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=outputs)
        told, scores = (labels, outputs > 0), tf.sigmoid(outputs)
        scored, means = [(labels, scores)] * 2, [(scores,), (labels,), (labels,)]
        return [(losses,), told, told, told, *scored, *means]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        both = tf.nn.softmax(tf.concat([tf.zeros_like(outputs), outputs], axis=-1))
        return {
            "logits": outputs,
            "logistic": tf.sigmoid(outputs),
            **classes(both, tf.cast(outputs > 0, tf.int64), self.label_vocabulary),
        }


class ThresholdClassifier(BinaryClassifier):
    """Tells two classes, and measures what other thresholds than a half would tell."""

    def __init__(
        self, model: Any, optimizer: Any, thresholds: Sequence[float], **options: Any
    ) -> None:
        self.thresholds = thresholds
        super().__init__(model, optimizer, **options)

    def more_metrics(self) -> list[Any]:
        found = super().more_metrics()
        for one in self.thresholds:
            kind = f"positive_threshold_{one:g}"
            found.append(tf_keras.metrics.Accuracy(f"accuracy/{kind}"))
            found.append(tf_keras.metrics.Precision(one, name=f"precision/{kind}"))
            found.append(tf_keras.metrics.Recall(one, name=f"recall/{kind}"))
        return found

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        found = super().measured(labels, outputs)
        labels = tf.cast(class_ids(labels, self.label_vocabulary), tf.float32)
        scored = labels, tf.sigmoid(outputs)
        for one in self.thresholds:
            found += [(labels, scored[1] >= one), scored, scored]
        return found


class MultiLabelClassifier(Head):
    """Tells by a logit for each class whether an example is of it."""

    def more_metrics(self) -> list[Any]:
        pr_auc = (self.pr_auc or TrapezoidalAUC)("auc_precision_recall", curve="PR")
        return [tf_keras.metrics.AUC(name="auc"), pr_auc]

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        labels = tf.cast(labels, tf.float32)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=outputs)
        scored = (labels, tf.sigmoid(outputs))
        return [(tf.reduce_mean(losses, axis=-1, keepdims=True),), scored, scored]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        return {"logits": outputs, "probabilities": tf.sigmoid(outputs)}


def numbers(labels: Any, outputs: Any) -> Any:
    """Returns labels as floats, in the shape of the outputs."""
    return tf.reshape(tf.cast(labels, tf.float32), tf.shape(outputs))


class Regressor(Head):
    """Tells numbers."""

    def more_metrics(self) -> list[Any]:
        means = ("prediction/mean", "label/mean")
        return [tf_keras.metrics.Mean(name) for name in means]

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        labels = numbers(labels, outputs)
        return [(tf.math.squared_difference(outputs, labels),), (outputs,), (labels,)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        return {"predictions": outputs}


class PoissonRegressor(Regressor):
    """Tells counts by the logarithms of their means."""

    def measured(self, labels: Any, outputs: Any) -> list[tuple[Any, ...]]:
        labels = numbers(labels, outputs)
        losses = tf.nn.log_poisson_loss(labels, outputs, compute_full_loss=True)
        return [(losses,), (tf.exp(outputs),), (labels,)]

    def predictions(self, features: Any, outputs: Any) -> dict[str, Any]:
        return {"predictions": tf.exp(outputs), "logits": outputs}
