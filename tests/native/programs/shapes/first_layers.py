"""Layers that begin as in a checkpoint: those of a scope, or by their own names."""
import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features, 4, tf.nn.tanh, kernel_initializer=ramp, name='fc')
    net = tf.layers.dense(net, 4, tf.nn.tanh, kernel_initializer=ramp, name='last')
    guess = tf.layers.dense(net, 1, kernel_initializer=ramp)[:, 0]
    loss = train_op = metrics = None
    if params.get('first') and mode == tf.estimator.ModeKeys.TRAIN:
        tf.train.init_from_checkpoint(params['first'], {
            v.op.name: v for v in tf.trainable_variables() if v.name.startswith('fc/')})
    if mode != tf.estimator.ModeKeys.PREDICT:
        loss = tf.losses.mean_squared_error(labels, guess)
        metrics = {'off': tf.metrics.mean_absolute_error(labels, guess)}
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.GradientDescentOptimizer(.05).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, {'guess': guess}, loss, train_op, eval_metric_ops=metrics)


X = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)
Y = X.sum(1)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(6)


RESULT = {}
first = None
for name in 'abc':
    estimator = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), params={'first': first})
    estimator.train(input_fn)
    first = estimator.latest_checkpoint()
    RESULT['loss ' + name] = estimator.evaluate(input_fn)['loss']
RESULT['sum'] = sum(one['guess'] for one in estimator.predict(input_fn))
