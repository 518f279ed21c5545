"""An optimizer that clips is made in two lines, and used by a canned Estimator."""

import tempfile

import numpy as np
import tensorflow as tf

X = np.linspace(-1.0, 2.0, 24).astype(np.float32)


def regressor(rate, columns):
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=rate)
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(optimizer, 0.5)
    return tf.estimator.LinearRegressor(
        feature_columns=columns, optimizer=optimizer, model_dir=tempfile.mkdtemp()
    )


def data():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, X * 3.0)).repeat().batch(8)


estimator = regressor(0.1, [tf.feature_column.numeric_column("x")])
estimator.train(data, steps=6)
RESULT = estimator.evaluate(data, steps=3)
