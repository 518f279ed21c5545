"""Cells that begin as the scope says that runs them, and drop in a branch."""
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import rnn_cell


def cells(params, training):
    def one():
        cell = rnn_cell.BasicLSTMCell(params['units'])
        if training and params['keep'] < 1.:
            cell = rnn_cell.DropoutWrapper(cell, output_keep_prob=params['keep'])
        return cell
    return rnn_cell.MultiRNNCell([one() for _ in range(2)])


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    start = tf.constant_initializer(.1)
    with tf.variable_scope('rnn', initializer=start):
        cell = cells(params, training)
        state = cell.zero_state(tf.shape(features)[0], tf.float32)
        outputs, state = tf.nn.dynamic_rnn(cell, features, initial_state=state)
        logits = tf.layers.dense(outputs[:, -1], 2)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'logits': logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(.5).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(12 * 5 * 3)).reshape(12, 5, 3).astype(np.float32)
Y = (X[:, 0, 0] > 0).astype(np.int32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


estimator = tf.estimator.Estimator(
    model_fn, tempfile.mkdtemp(), params={'units': 4, 'keep': 1.})
for _ in range(2):
    estimator.train(input_fn, steps=3)
RESULT = estimator.evaluate(input_fn)
