"""Losses and metrics that decorators put into a table, by their kind and name."""
import tempfile

import numpy as np
import tensorflow as tf

X = np.sin(np.arange(96.)).reshape(16, 6).astype(np.float32)
Y = X[:, :3] + 0.5
_KNOWN = {}


def register(kind, name=None):
    def put(fn):
        key = (kind, name or fn.__name__)
        if key in _KNOWN:
            raise ValueError('%s %s is registered twice' % key)
        _KNOWN[key] = fn
        return fn
    return put


def lookup(kind, name):
    try:
        return _KNOWN[(kind, name)]
    except KeyError:
        raise KeyError('no %s %s' % (kind, name))


@register('loss', 'squared')
def squared_loss(labels, scores, weight):
    return tf.losses.mean_squared_error(labels, scores, weights=weight)


@register('loss', 'huber')
def huber_loss(labels, scores, weight):
    return tf.losses.huber_loss(labels, scores, weights=weight, delta=0.3)


@register('loss')
def soft(labels, scores, weight):
    errors = tf.log(1. + tf.exp(tf.abs(labels - scores)))
    return tf.reduce_mean(weight * errors)


@register('body')
def plain(net, params):
    return tf.layers.dense(net, 3, kernel_initializer=tf.constant_initializer(0.2))


@register('body')
def deep(net, params):
    for units in params['units']:
        net = tf.layers.dense(
            net, units, tf.tanh, kernel_initializer=tf.constant_initializer(0.1))
    return plain(net, params)


def model_fn(features, labels, mode, params):
    net = lookup('body', params['body'])(features, params)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'scores': net})
    loss = lookup('loss', params['loss'])(labels, net, params['weight'])
    other = lookup('loss', 'huber')(labels, net, 0.5)
    tf.summary.scalar('other', other)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {'mean_other': tf.metrics.mean(other)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.GradientDescentOptimizer(0.3).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(2).batch(4)


RESULT = {}
for loss in ('squared', 'huber', 'soft'):
    for body in ('plain', 'deep'):
        estimator = tf.estimator.Estimator(
            model_fn, tempfile.mkdtemp(),
            params={'loss': loss, 'body': body, 'weight': 0.7, 'units': [5, 4]})
        estimator.train(input_fn)
        found = estimator.evaluate(input_fn)
        RESULT.update((loss + body + key, value) for key, value in found.items())
