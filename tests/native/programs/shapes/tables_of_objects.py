"""Activations, losses and optimizers of objects that decorators fill."""
import tempfile

import numpy as np
import tensorflow as tf

X = np.sin(np.arange(96.)).reshape(16, 6).astype(np.float32)
Y = X[:, :3] + 0.5


class Table(object):
    """Functions by their names."""

    def __init__(self, what):
        self.what = what
        self._entries = {}

    def add(self, name):
        def put(entry):
            assert name not in self._entries, name
            self._entries[name] = entry
            return entry
        return put

    def __getitem__(self, name):
        if name not in self._entries:
            raise KeyError('no %s %s' % (self.what, name))
        return self._entries[name]

    def names(self):
        return sorted(self._entries)


ACTIVATIONS = Table('activation')
LOSSES = Table('loss')
OPTIMIZERS = Table('optimizer')


@ACTIVATIONS.add('swish')
def swish(x):
    return x * tf.sigmoid(x)


ACTIVATIONS.add('relu')(tf.nn.relu)
ACTIVATIONS.add('tanh')(tf.tanh)


@LOSSES.add('squared')
def squared(labels, scores):
    return tf.losses.mean_squared_error(labels, scores)


@LOSSES.add('absolute')
def absolute(labels, scores):
    return tf.losses.absolute_difference(labels, scores)


@OPTIMIZERS.add('adam')
def adam(rate):
    return tf.train.AdamOptimizer(rate, beta1=0.8)


@OPTIMIZERS.add('descent')
def descent(rate):
    return tf.train.GradientDescentOptimizer(rate)


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(
        features, 5, kernel_initializer=tf.constant_initializer(0.1), use_bias=False)
    net = ACTIVATIONS[params['activation']](net)
    net = tf.layers.dense(net, 3, kernel_initializer=tf.constant_initializer(0.2))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'scores': net})
    loss = LOSSES[params['loss']](labels, net)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {'mae': tf.metrics.mean_absolute_error(labels, net)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = OPTIMIZERS[params['optimizer']](params['rate'])
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(2).batch(4)


RESULT = {}
for activation in ACTIVATIONS.names():
    for loss in LOSSES.names():
        for optimizer in OPTIMIZERS.names():
            params = {'activation': activation, 'loss': loss, 'rate': 0.05,
                      'optimizer': optimizer}
            estimator = tf.estimator.Estimator(
                model_fn, tempfile.mkdtemp(), params=params)
            estimator.train(input_fn)
            found = estimator.evaluate(input_fn)
            RESULT.update(
                (activation + loss + optimizer + key, value)
                for key, value in found.items())
