"""Canned Estimators as functions that make an Estimator, and their Keras models.

The texts speak as model functions do that were lifted: in words of TensorFlow 1, with
`tf.estimator.ScopedModel` for a class of the loop module.
"""


def deep_model():
    """Hidden layers on feature columns."""

    class DeepModel(tf.estimator.ScopedModel):
        """Hidden layers on feature columns."""

        def __init__(X_PARAMETERS):
            super().__init__()
            self.feature_columns = feature_columns
            self.hidden = [
                tf.keras.layers.Dense(
                    size, activation=X_ACTIVATION, name=f"hiddenlayer_{index}"
                )
                for index, size in enumerate(hidden_units)
            ]
            if X_DROPOUT:
                self.dropout = tf.keras.layers.Dropout(X_RATE)
            if X_BATCH_NORM:
                self.norms = [
                    tf.keras.layers.BatchNormalization(
                        momentum=0.999, name=f"batchnorm_{index}"
                    )
                    for index, _ in enumerate(hidden_units)
                    if batch_norm
                ]
            self.logits = tf.keras.layers.Dense(units, name="logits")

        def call(X_INPUTS):
            with tf.variable_scope("input_from_feature_columns"):
                net = self.make_input_layer(features, self.feature_columns)
            for index, layer in enumerate(self.hidden):
                net = layer(net)
                if X_DROPOUT:
                    net = self.dropout(net, training=training)
                if X_BATCH_NORM:
                    if self.norms:
                        with tf.variable_scope(layer.name):
                            net = self.norms[index](net, training=training)
                summarise_layer(net, f"dnn/{layer.name}", "dnn/")
            net = self.logits(net)
            summarise_layer(net, "dnn/logits", "dnn/")
            return net


def linear_model():
    """A linear model of feature columns."""

    class LinearModel(tf.estimator.ScopedModel):
        """A weight for each value of each column, added up, and a bias."""

        def __init__(self, feature_columns, units, sparse_combiner):
            super().__init__()
            self.feature_columns = feature_columns
            self.units = units
            self.sparse_combiner = sparse_combiner

        def call(self, features):
            weights = {}
            logits = self.make_linear_model(
                features,
                self.feature_columns,
                units=self.units,
                sparse_combiner=self.sparse_combiner,
                cols_to_vars=weights,
            )
            (bias,) = weights.pop("bias")
            flat = [tf.reshape(one, [-1]) for one in tf.nest.flatten(weights.values())]
            with tf.name_scope("linear/"):
                if self.units > 1:
                    tf.summary.histogram("bias", bias)
                else:
                    tf.summary.scalar("bias", bias[0])
                zeros = tf.nn.zero_fraction(tf.concat(flat, axis=0))
                tf.summary.scalar("fraction_of_zero_weights", zeros)
            return logits


def summarise_layer():
    """The two summaries of each layer."""

    def summarise_layer(value, name, scope):
        """Writes how many values of a layer are zero, and all of them."""
        with tf.name_scope(scope):
            zeros = tf.nn.zero_fraction(value)
            tf.summary.scalar(f"{name}/fraction_of_zero_values", zeros)
            tf.summary.histogram(f"{name}/activation", value)


def make_optimizer():
    """An optimizer however it is said."""

    def make_optimizer(optimizer, learning_rate):
        """An optimizer by its name, by itself, or from the function that makes it."""
        names = {
            "Adagrad": tf.train.AdagradOptimizer,
            "Adam": tf.train.AdamOptimizer,
            "Ftrl": tf.train.FtrlOptimizer,
            "RMSProp": tf.train.RMSPropOptimizer,
            "SGD": tf.train.GradientDescentOptimizer,
        }
        if isinstance(optimizer, str):
            return names[optimizer](learning_rate=learning_rate)
        return optimizer() if callable(optimizer) else optimizer


def deep_estimator():
    """An Estimator of hidden layers."""

    def X_FUNCTION(X_PARAMETERS):
        X_DOCSTRING
        X_HEAD

        def model_fn(features, labels, mode):
            with tf.variable_scope("dnn", partitioner=tf.estimator.one_part()):
                model = X_DEEP_MODEL
                return head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    labels=labels,
                    logits=X_DEEP_LOGITS,
                    optimizer=X_OPTIMIZER,
                )

        return X_ESTIMATOR


def linear_estimator():
    """An Estimator of a linear model."""

    def X_FUNCTION(X_PARAMETERS):
        X_DOCSTRING
        X_HEAD

        def model_fn(features, labels, mode):
            with tf.variable_scope("linear", partitioner=tf.estimator.one_part()):
                model = X_LINEAR_MODEL
                return head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    labels=labels,
                    logits=model(features),
                    optimizer=X_OPTIMIZER,
                )

        return X_ESTIMATOR


def combined_estimator():
    """An Estimator of both."""

    def X_FUNCTION(X_PARAMETERS):
        X_DOCSTRING
        X_HEAD

        def model_fn(features, labels, mode):
            logits, trained = [], []
            if X_DEEP:
                if dnn_feature_columns:
                    with tf.variable_scope("dnn") as scope:
                        model = X_DEEP_MODEL
                        logits.append(X_DEEP_LOGITS)
                        trained.append((X_DEEP_OPTIMIZER, scope.name))
            if X_LINEAR:
                if linear_feature_columns:
                    with tf.variable_scope("linear") as scope:
                        model = X_LINEAR_MODEL
                        logits.append(model(features))
                        trained.append((X_LINEAR_OPTIMIZER, scope.name))
                        summarise_layer(logits[-1], "linear", "linear/")

            def train_op_fn(loss):
                steps = [
                    optimizer.minimize(
                        loss,
                        var_list=tf.get_collection(
                            tf.GraphKeys.TRAINABLE_VARIABLES, scope=f"{name}/"
                        ),
                    )
                    for optimizer, name in trained
                ]
                with tf.control_dependencies(steps):
                    return tf.assign_add(tf.train.get_global_step(), 1).op

            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                logits=tf.add_n(logits),
                train_op_fn=train_op_fn,
            )

        return X_ESTIMATOR
