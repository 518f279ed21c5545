"""Metrics of TensorFlow 1 that Keras lacks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras


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
