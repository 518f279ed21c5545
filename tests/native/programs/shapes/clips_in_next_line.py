"""An optimizer that clips is made in two lines, and by a canned Estimator used."""

import tensorflow as tf


def regressor(rate, hidden, columns):
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=rate)
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(optimizer, 5.0)
    return tf.estimator.DNNRegressor(
        feature_columns=columns, hidden_units=hidden, optimizer=optimizer
    )


def train(input_fn):
    columns = [tf.feature_column.numeric_column("x")]
    regressor(0.1, [8, 4], columns).train(input_fn, steps=10)
