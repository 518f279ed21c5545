"""The models of canned Estimators, and what their loops have besides."""


def linear_model():
    """The linear model: an embedding for each column that has categories."""

    class Bias(tf.keras.layers.Layer):
        """Adds a number to each logit."""

        def build(self, input_shape):
            self.bias = self.add_weight(
                "bias", shape=input_shape[-1:], initializer="zeros"
            )

        def call(self, logits):
            return logits + self.bias

    class LinearModel(tf.keras.Model):
        """A weight for each value of each column, added up, and a bias."""

        def __init__(self, columns, units):
            super().__init__()
            if X_CATEGORICAL:
                # The weights of categories are an embedding of their own.
                self.terms = [
                    tf.keras.layers.DenseFeatures(
                        tf.feature_column.embedding_column(
                            column,
                            units,
                            combiner=X_COMBINER,
                            initializer=tf.keras.initializers.Zeros(),
                        )
                    )
                    for column in sorted(columns, key=lambda column: column.name)
                ]
            if X_NUMERIC:
                self.terms = [
                    tf.keras.Sequential(
                        [
                            tf.keras.layers.DenseFeatures(column),
                            tf.keras.layers.Dense(
                                units, use_bias=False, kernel_initializer="zeros"
                            ),
                        ]
                    )
                    for column in sorted(columns, key=lambda column: column.name)
                ]
            if X_MIXED:
                self.terms = [
                    self.term(column, units)
                    for column in sorted(columns, key=lambda column: column.name)
                ]
            self.bias = Bias()

        if X_MIXED:

            def term(self, column, units):
                """The layer of one column."""
                if not hasattr(column, "num_buckets"):
                    weights = tf.keras.layers.Dense(
                        units, use_bias=False, kernel_initializer="zeros"
                    )
                    return tf.keras.Sequential(
                        [tf.keras.layers.DenseFeatures(column), weights]
                    )
                # The weights of categories are an embedding of their own.
                return tf.keras.layers.DenseFeatures(
                    tf.feature_column.embedding_column(
                        column,
                        units,
                        combiner=X_COMBINER,
                        initializer=tf.keras.initializers.Zeros(),
                    )
                )

        def call(self, features):
            return self.bias(tf.add_n([term(features) for term in self.terms]))


def combined_model():
    """A wide and a deep part."""

    class WideDeepModel(tf.keras.Model):
        """A deep network and a linear model whose logits are added."""

        def __init__(self, deep_part, wide_part):
            super().__init__()
            self.deep = deep_part
            self.wide = wide_part

        def call(self, features, training=False):
            return self.deep(features, training=training) + self.wide(features)


def baseline_model():
    """A bias."""

    class BaselineModel(tf.keras.Model):
        """The same logits for every example: what the labels are on average."""

        def __init__(self, units):
            super().__init__()
            self.bias = self.add_weight("bias", shape=[units], initializer="zeros")

        def call(self, features):
            examples = tf.shape(tf.nest.flatten(features)[0])[0]
            return tf.tile(self.bias[tf.newaxis], [examples, 1])


def precision_recall_auc():
    """The one metric of binary classifiers that Keras computes otherwise."""

    class PrecisionRecallAUC(tf.keras.metrics.AUC):
        """Area under the precision-recall curve by trapezoids, as tf.metrics.auc."""

        def result(self):
            hits, epsilon = self.true_positives + 1e-6, 1e-6
            precision = hits / (self.true_positives + self.false_positives + epsilon)
            recall = hits / (self.true_positives + self.false_negatives + epsilon)
            heights = (precision[:-1] + precision[1:]) / 2
            return tf.reduce_sum((recall[:-1] - recall[1:]) * heights)


def canned_setup():
    """The model, its optimizer and metrics, before the first train call."""
    features_spec, _ = X_DATASET.element_spec
    with strategy.scope():
        X_MODEL
        # Makes the variables, whose shapes follow from those of the data.
        X_VARIABLES
        X_OPTIMIZERS
        if X_VOCABULARY:
            label_ids = tf.keras.layers.StringLookup(
                vocabulary=X_LABELS, num_oov_indices=0
            )
        X_TEST_METRICS
        checkpoint = X_CHECKPOINT


def site_canned():
    """What a class around the model is given."""
    with strategy.scope():
        X_MODEL
        X_OPTIMIZERS


def trainer_init_canned():
    """The members of a class around the model."""
    X_MEMBERS
    if X_SCOPED:
        with strategy.scope():
            if X_VOCABULARY:
                label_ids = tf.keras.layers.StringLookup(
                    vocabulary=X_LABELS, num_oov_indices=0
                )
            X_TEST_METRICS
    checkpoint = X_CHECKPOINT


def two_updates():
    """A combined model: each part has an optimizer of its own."""
    deep = model.deep.trainable_variables
    wide = model.wide.trainable_variables
    deep_gradients, wide_gradients = tape.gradient(loss, [deep, wide])
    dnn_optimizer.apply_gradients(zip(deep_gradients, deep))
    linear_optimizer.apply_gradients(zip(wide_gradients, wide))
