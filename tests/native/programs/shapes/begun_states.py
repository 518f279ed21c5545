"""Recurrent networks that begin with states of their own; shares kept by the mode."""
import numpy as np
import tensorflow as tf

PARAMS = {'keep': 1.}


def read(sequence, first, keep_prob):
    with tf.variable_scope('read', initializer=ramp):
        outputs, _ = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(3), sequence, initial_state=first,
            dtype=tf.float32)
    return tf.nn.dropout(outputs, keep_prob=keep_prob)


def network(features, mode, params):
    keep_prob = params['keep'] if mode == tf.estimator.ModeKeys.TRAIN else 1.0
    c = tf.layers.dense(features['first'], 3, tf.tanh, kernel_initializer=ramp)
    h = tf.layers.dense(features['first'], 3, tf.sigmoid, kernel_initializer=ramp)
    c = tf.nn.dropout(c, keep_prob=keep_prob)
    outputs = read(features['sequence'], c, keep_prob)
    with tf.variable_scope('write', initializer=ramp):
        state = tf.nn.rnn_cell.LSTMStateTuple(c, h)
        outputs, _ = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.BasicLSTMCell(3), outputs, initial_state=state,
            dtype=tf.float32)
    return tf.layers.dense(outputs[:, -1], 1, kernel_initializer=ramp)


def model_fn(features, labels, mode, params):
    outputs = network(features, mode, params)
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.GradientDescentOptimizer(.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(96.)).reshape(12, 4, 2).astype(np.float32)
F = np.cos(np.arange(24.)).reshape(12, 2).astype(np.float32)
Y = X.sum((1, 2))[:, None]


def input_fn():
    data = {'sequence': X, 'first': F}
    return tf.data.Dataset.from_tensor_slices((data, Y)).batch(4).repeat(3)
