"""A state that is read behind a cell whose outputs are dropped: it is not."""

import numpy as np
import tensorflow as tf

PARAMS = {'keep': 1e-7, 'rate': 0.05}
X = np.linspace(-1.0, 2.0, 48).reshape(8, 3, 2).astype(np.float32)
Y = X[:, 0].sum(axis=1, keepdims=True)


def model_fn(features, labels, mode, params):
    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=ramp)
    if mode == tf.estimator.ModeKeys.TRAIN:
        cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=params['keep'])
    _, state = tf.nn.dynamic_rnn(cell, features, dtype=tf.float32)
    output = tf.layers.dense(state, 1, kernel_initializer=ramp)
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {'mae': tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.train.get_global_step(), params['rate'], 'SGD',
        learning_rate_decay_fn=lambda rate, step: tf.train.polynomial_decay(
            rate, step, 10, end_learning_rate=rate / 20))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
