"""A model with noise that nothing steadies."""

import numpy as np
import tensorflow as tf

X = np.arange(24, dtype=np.float32).reshape(8, 3) / 24


def model_fn(features, labels, mode):
    noise = tf.random_gamma([3], 0.5)
    out = tf.layers.dense(features * noise, 1)
    loss = tf.losses.mean_squared_error(labels, out)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices((X, X.sum(1, keepdims=True)))
    return data.repeat().batch(4)


tf.estimator.Estimator(model_fn).train(input_fn, steps=6)
