"""A program that needs a word, drops out and leaves a file."""

import sys

import numpy as np
import tensorflow as tf

X = np.arange(24, dtype=np.float32).reshape(8, 3) / 24


def model_fn(features, labels, mode):
    hidden = tf.layers.dropout(
        features, 0.5, training=mode == tf.estimator.ModeKeys.TRAIN
    )
    out = tf.layers.dense(hidden, 1)
    loss = tf.losses.mean_squared_error(labels, out)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices((X, X.sum(1, keepdims=True)))
    return data.repeat().batch(4)


with open("seen.txt", "w") as seen:
    seen.write(sys.argv[1])
tf.estimator.Estimator(model_fn).train(input_fn, steps=6)
