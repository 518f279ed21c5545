"""Metrics of TensorFlow 1 that Keras lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras


class Computed(tf_keras.metrics.Metric):
    """What is computed of the results of others; they may be given tuples by it."""

    def __init__(self, compute: Callable[..., Any], name: str, *parts: Any) -> None:
        super().__init__(name)
        self.compute, self.parts = compute, parts

    def update_state(self, *given: Any) -> None:
        for part, values in zip(self.parts, given):
            part.update_state(*values)

    def reset_state(self) -> None:
        for part in self.parts:
            part.reset_state()

    def result(self) -> Any:
        return self.compute(*(part.result() for part in self.parts))


class ConfusionMatrix(tf_keras.metrics.MeanIoU):
    """How often each class was told for each, of which others are computed."""

    def __init__(self, num_classes: int, name: str) -> None:
        super().__init__(num_classes, name, dtype="float64")

    def result(self) -> Any:
        return tf.convert_to_tensor(self.total_cm)


class MeanPerClassAccuracy(tf_keras.metrics.MeanIoU):
    """The mean of the accuracies of all classes; a class that never occurs has 0."""

    def result(self) -> Any:
        hits = tf.linalg.diag_part(self.total_cm)
        occurred = tf.reduce_sum(self.total_cm, axis=1)
        return tf.reduce_mean(tf.math.divide_no_nan(hits, occurred))


class TrapezoidalAUC(tf_keras.metrics.AUC):
    """The area below the precision-recall curve, straight between its points."""

    def result(self) -> Any:
        hits = self.true_positives + 1e-6
        recall = hits / (hits + self.false_negatives)
        precision = hits / (hits + self.false_positives)
        heights = (precision[:-1] + precision[1:]) / 2
        return tf.reduce_sum((recall[:-1] - recall[1:]) * heights)


class BestF1(tf_keras.metrics.AUC):
    """The greatest F1 over the thresholds."""

    def result(self) -> Any:
        hits = self.true_positives
        precision = hits / (hits + self.false_positives + 1e-8)
        recall = hits / (hits + self.false_negatives + 1e-8)
        return tf.reduce_max(2 * precision * recall / (precision + recall + 1e-8))
