"""A partial gives a model function more than an Estimator does."""
import functools
import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params, units, alpha=.5):
    with tf.variable_scope('net'):
        net = tf.layers.dense(features, units, tf.nn.elu, kernel_initializer=ramp)
        outputs = tf.layers.dense(net, 1, kernel_initializer=ramp)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'scaled': alpha * outputs})
    loss = alpha * tf.losses.mean_squared_error(labels, outputs)
    value, update = tf.metrics.mean_absolute_error(labels, outputs)
    tf.summary.scalar('error', update)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={'error': (value, update)})
    train_op = tf.train.GradientDescentOptimizer(params['rate']).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(48.)).reshape(12, 4).astype(np.float32)
Y = X.sum(1, keepdims=True)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(3)


RESULT = {}
for units in (2, 3):
    estimator = tf.estimator.Estimator(
        functools.partial(model_fn, units=units, alpha=.1 * units),
        tempfile.mkdtemp(), params={'rate': .1})
    estimator.train(input_fn)
    RESULT[f'error_{units}'] = estimator.evaluate(input_fn, steps=3)['error']
    found = estimator.predict(input_fn)
    RESULT[f'first_{units}'] = next(found)['scaled'][0]
