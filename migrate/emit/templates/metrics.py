"""Metrics that Keras does not have, for the loops of programs that used them."""


def mean_per_class_accuracy():
    """The figure of tf.metrics.mean_per_class_accuracy."""

    class MeanPerClassAccuracy(tf.keras.metrics.MeanIoU):
        """The share of each class that is recognised, averaged over all classes."""

        def result(self):
            # Rows are labels, columns predictions; a class without examples is 0.
            found = tf.linalg.diag_part(self.total_cm)
            examples = tf.reduce_sum(self.total_cm, axis=1)
            return tf.reduce_mean(tf.math.divide_no_nan(found, examples))
