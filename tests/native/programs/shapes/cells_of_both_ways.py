"""Cells of both directions that drop while training, told by one test."""
import numpy as np
import tensorflow as tf

PARAMS = {'keep': 1.}


def model_fn(features, labels, mode, params):
    forward = tf.nn.rnn_cell.LSTMCell(3, initializer=ramp)
    backward = tf.nn.rnn_cell.LSTMCell(3, initializer=ramp)
    if mode == tf.estimator.ModeKeys.TRAIN:
        forward = tf.nn.rnn_cell.DropoutWrapper(forward, output_keep_prob=params['keep'])
        backward = tf.nn.rnn_cell.DropoutWrapper(backward, input_keep_prob=params['keep'])
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(
        forward, backward, features, dtype=tf.float32)
    net = tf.reduce_max(tf.concat(outputs, -1), 1)
    net = tf.layers.dense(net, 4, tf.nn.tanh, kernel_initializer=ramp, name='fc')
    guess = tf.layers.dense(net, 1, kernel_initializer=ramp)[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'guess': guess})
    loss = tf.losses.mean_squared_error(labels, guess)
    train_op = tf.train.GradientDescentOptimizer(.05).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(144, dtype=np.float32)).reshape(12, 4, 3)
Y = X.sum((1, 2))
