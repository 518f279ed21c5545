"""Fused cells over steps that come first, forwards and backwards, and a flat loss."""
import numpy as np
import tensorflow as tf


def overlap(y_true, y_pred):
    y_true = tf.layers.flatten(y_true)
    y_pred = tf.layers.flatten(y_pred)
    both = tf.reduce_sum(y_true * y_pred, axis=1)
    return tf.reduce_mean(2. * both / (tf.reduce_sum(y_true + y_pred, axis=1) + 1.))


def model_fn(features, labels, mode):
    rows, count = features['rows'], features['count']
    with tf.variable_scope('both', initializer=tf.constant_initializer(.1)):
        steps = tf.transpose(rows, [1, 0, 2])
        forward = tf.contrib.rnn.LSTMBlockFusedCell(3)
        backward = tf.contrib.rnn.LSTMBlockFusedCell(3)
        backward = tf.contrib.rnn.TimeReversedFusedRNN(backward)
        one, _ = forward(steps, dtype=tf.float32, sequence_length=count)
        other, _ = backward(steps, dtype=tf.float32, sequence_length=count)
    net = tf.transpose(tf.concat([one, other], axis=-1), [1, 0, 2])
    guess = tf.layers.dense(net, 2, tf.nn.sigmoid, kernel_initializer=ramp)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'guess': guess})
    loss = 1. - overlap(labels, guess)
    train_op = tf.train.GradientDescentOptimizer(.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        eval_metric_ops={'overlap': tf.metrics.mean(overlap(labels, guess))})


X = np.sin(np.arange(12 * 15, dtype=np.float32)).reshape(12, 5, 3)
Y = (np.cos(np.arange(12 * 10)) > 0).reshape(12, 5, 2).astype(np.float32)
COUNT = np.arange(12, dtype=np.int32) % 4 + 2


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'rows': X, 'count': COUNT}, Y)).batch(6)
