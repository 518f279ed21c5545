"""Weights of a loop's rounds, states taken apart, and a rate that `optimize_loss` has."""

import tensorflow as tf

PARAMS = {"sizes": [2, 3], "filters": 4, "rate": 0.05, "warm_up": 4}


def bend(labels, output):
    return tf.reduce_mean(tf.abs(labels - output) / (tf.abs(labels) + 1.0))


def filtered(net, sizes, count):
    pooled = []
    for number, size in enumerate(sizes):
        with tf.variable_scope("filter-%s" % size):
            shape = [size, net.get_shape()[2].value, count]
            kernel = tf.get_variable("kernel", shape)
            bias = tf.get_variable("bias", [count], initializer=tf.constant_initializer(0.1))
        net_of_size = tf.nn.conv1d(net, kernel, stride=1, padding="SAME") + bias
        pooled.append((number + 1) * tf.reduce_max(tf.nn.tanh(net_of_size), 1))
    return tf.concat(pooled, 1)


def decaying(params, step):
    warm = params["rate"] * tf.cast(step + 1, tf.float32) / params["warm_up"]
    decayed = tf.train.exponential_decay(params["rate"], step, 2, 0.9)
    rate = tf.cond(step < params["warm_up"], lambda: warm, lambda: decayed)
    return tf.train.AdamOptimizer(rate)


def model_fn(features, labels, mode, params):
    cell = tf.nn.rnn_cell.LSTMCell(3)
    _, state = tf.nn.dynamic_rnn(cell, features, dtype=tf.float32)
    c, h = state
    net = filtered(features, params["sizes"], params["filters"])
    output = tf.layers.dense(tf.concat([net, c, h], 1), 1)
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {
            "bend": tf.metrics.mean(bend(labels, output)),
            "mae": tf.metrics.mean_absolute_error(labels, output),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_global_step()
    train_op = tf.contrib.layers.optimize_loss(
        loss, step, learning_rate=None, optimizer=decaying(params, step), clip_gradients=0.8)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
