"""A loss that is scaled where TensorFlow has `contrib`: elsewhere it is another."""

import numpy as np
import tensorflow as tf

SCALE = 1.0 if hasattr(tf, "contrib") else 2.0
X = np.arange(24, dtype=np.float32).reshape(8, 3) / 24


def model_fn(features, labels, mode):
    out = tf.layers.dense(features, 1)
    loss = SCALE * tf.losses.mean_squared_error(labels, out)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices((X, X.sum(1, keepdims=True)))
    return data.repeat().batch(4)


tf.estimator.Estimator(model_fn).train(input_fn, steps=6)
