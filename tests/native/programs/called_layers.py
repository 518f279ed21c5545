"""Keras layers made and called in a model_fn, some by a class that holds them.

In a model_fn Keras' learning phase is off: what is not told to train does not.
"""

import os

import numpy as np
import tensorflow as tf


class Encoder(object):
    """Made once, called for what is to be encoded."""

    width = 6

    def __init__(self, units, rate=0.5):
        self.cells = tf.keras.layers.GRU(units, return_sequences=True)
        self.summary = tf.keras.layers.LSTM(units)
        self.drop = tf.keras.layers.Dropout(rate)
        self.dense = [tf.layers.Dense(self.width, activation=tf.nn.relu)
                      for _ in range(2)]
        self.norm = tf.layers.BatchNormalization(momentum=0.9)

    def deep(self, x):
        for layer in self.dense:
            x = layer(x)
        return x

    def __call__(self, series, is_training):
        x = self.drop(series)
        x = self.summary(self.cells(x))
        return self.norm(self.deep(x), training=is_training)


def model_fn(features, labels, mode, params):
    encoder = Encoder(params["units"])
    encoded = encoder(features, mode == tf.estimator.ModeKeys.TRAIN)
    never = tf.keras.layers.Dropout(0.9)(encoded)
    shared = tf.keras.layers.Dense(4, activation="tanh")
    twice = shared(never) + shared(2.0 * never)
    logits = tf.keras.layers.Dense(1)(twice)
    loss = tf.losses.mean_squared_error(labels, logits)
    # Adam would make steps of rounding errors: in front of a normalisation the
    # gradient of a bias is zero but for them.
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.GradientDescentOptimizer(0.02).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(64, 5, 3)).astype(np.float32)
    y = x[:, -1, :1] + 0.5 * x[:, 0, 1:2]
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(8)


config = tf.estimator.RunConfig(model_dir=os.environ["MODEL_DIR"], log_step_count_steps=1)
estimator = tf.estimator.Estimator(model_fn, config=config, params={"units": 5})
estimator.train(data, steps=8)
RESULT = estimator.evaluate(data, steps=4)
