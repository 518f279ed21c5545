"""Networks that a helper, or the branches of a test, choose by a name, within a scope."""
import tempfile

import numpy as np
import tensorflow as tf


def flat(x, units):
    return tf.layers.dense(x, units)


def deep(x, units):
    x = tf.layers.dense(x, units, tf.tanh)
    return tf.layers.dense(x, units)


def head_of(name):
    """What makes numbers of what a network gives."""
    if name == 'one':
        return one
    if name in ('two', 'both'):
        return two
    raise ValueError('no head {}'.format(name))


def one(x):
    return tf.layers.dense(x, 1, kernel_initializer=ramp)


def two(x):
    x = tf.layers.dense(x, 2, tf.tanh, kernel_initializer=ramp)
    return tf.layers.dense(x, 1, kernel_initializer=ramp)


def model_fn(features, labels, mode, params):
    if params['network'] == 'flat':
        network = flat
    else:
        network = deep
    decay = tf.contrib.layers.l2_regularizer(params['decay'])
    with tf.variable_scope('net', initializer=ramp, regularizer=decay):
        net = network(features, params['units'])
    head = head_of(params['head'])
    guess = head(net)[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'guess': guess})
    tf.losses.mean_squared_error(labels, guess)
    loss = tf.losses.get_total_loss()
    train_op = tf.train.GradientDescentOptimizer(.05).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)
Y = X.sum(1)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


RESULT = {}
for name, head in (('flat', 'two'), ('deep', 'one')):
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params={
        'network': name, 'head': head, 'units': 3, 'decay': .1})
    for _ in range(2):
        estimator.train(input_fn)
    for key, value in estimator.evaluate(input_fn).items():
        RESULT[name + '_' + key] = value
