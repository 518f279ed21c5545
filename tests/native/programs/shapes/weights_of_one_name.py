"""Weights that follow each other under one name, before, within and behind loops."""
import numpy as np
import tensorflow as tf

PARAMS = {'hidden': [4, 3], 'widths': [2, 3], 'l2': .01}
X = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)
Y = X.sum(1, keepdims=True)


def model_fn(features, labels, mode, params):
    with tf.variable_scope('first'):
        W = tf.get_variable('W', [3, 3], initializer=ramp)
        b = tf.get_variable('b', [3], initializer=tf.constant_initializer(.1))
        net = tf.tanh(tf.matmul(features, W) + b)
    penalty = tf.nn.l2_loss(W)
    size = 3
    for number, units in enumerate(params['hidden']):
        with tf.variable_scope('hidden_%d' % number):
            W = tf.get_variable('W', [3, units], initializer=ramp)
            b = tf.get_variable('b', [units], initializer=tf.zeros_initializer())
            net += tf.reduce_sum(tf.nn.xw_plus_b(net, W, b), 1, keepdims=True)
    sums = []
    for width in params['widths']:
        with tf.variable_scope('width_%d' % width):
            W = tf.get_variable('W', [size, width], initializer=ramp)
            sums.append(tf.matmul(net, W))
    net = tf.concat(sums, 1)
    with tf.variable_scope('last'):
        W = tf.get_variable('W', [sum(params['widths']), 1], initializer=ramp)
        b = tf.get_variable('b', [1], initializer=tf.zeros_initializer())
        outputs = tf.nn.xw_plus_b(net, W, b)
        penalty += tf.nn.l2_loss(W)
    b = tf.reduce_mean(outputs)
    loss = tf.losses.mean_squared_error(labels, outputs) + params['l2'] * penalty
    train_op = tf.train.GradientDescentOptimizer(.01).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={'mean': tf.metrics.mean(b)})
