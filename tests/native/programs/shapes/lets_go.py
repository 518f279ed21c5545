"""Arguments that are let go unread, and scopes that are told."""
import numpy as np
import tensorflow as tf


def block(x, units, unused=False):
    del unused
    with tf.name_scope('block') as scope:
        x = tf.layers.dense(
            x, units, kernel_initializer=tf.constant_initializer(0.4))
    tf.logging.info('after %s: %s', scope, x.shape)
    return x


def model_fn(features, labels, mode, params, config):
    del params, config
    value = block(block(features['x'], 4), 1, unused=True)
    loss = tf.losses.mean_squared_error(labels, value)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    y = x.sum(1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices(({'x': x}, y)).batch(4)
