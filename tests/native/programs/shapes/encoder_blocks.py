"""Blocks with normalization by hand, and a scope around what has no variables."""
import numpy as np
import tensorflow as tf

PARAMS = {'blocks': 2}


def layer_norm(x, epsilon=1e-6, scope='ln', reuse=None):
    with tf.variable_scope(scope, reuse=reuse):
        shape = x.get_shape()[-1:]
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        beta = tf.get_variable('beta', shape, initializer=tf.zeros_initializer())
        gamma = tf.get_variable('gamma', shape, initializer=tf.ones_initializer())
        return gamma * (x - mean) / ((variance + epsilon) ** 0.5) + beta


def feed_forward(x, units, scope='feed_forward'):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        start = tf.constant_initializer(np.linspace(-0.3, 0.4, 24))
        out = tf.layers.dense(x, units[0], tf.nn.relu, kernel_initializer=start)
        out = tf.layers.dense(out, units[1], kernel_initializer=start)
        return layer_norm(out + x)


def positions(x, scope='positions'):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        steps = tf.to_float(tf.range(tf.shape(x)[1]))
        return tf.reshape(tf.sin(steps), [1, -1, 1])


def model_fn(features, labels, mode, params):
    x = features['x'] + positions(features['x'])
    with tf.variable_scope('encoder', reuse=tf.AUTO_REUSE):
        for i in range(params['blocks']):
            with tf.variable_scope('block_{}'.format(i), reuse=tf.AUTO_REUSE):
                x = feed_forward(x, [6, 4])
    value = tf.layers.dense(
        tf.reduce_mean(x, 1), 1, kernel_initializer=tf.constant_initializer(0.3))
    loss = tf.losses.mean_squared_error(labels, value)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.linspace(-1., 1., 192).reshape(16, 3, 4).astype(np.float32) ** 3
    y = x[:, 1, :1] - x[:, 0, 1:2]
    return tf.data.Dataset.from_tensor_slices(({'x': x}, y)).batch(4)
