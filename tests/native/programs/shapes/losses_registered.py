"""Losses and metrics that decorators put into a table, by their kind and name."""
import tempfile

import numpy as np
import tensorflow as tf

X = np.sin(np.arange(96.)).reshape(16, 6).astype(np.float32)
Y = (X[:, :3] > 0.).astype(np.float32)
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
def entropy(labels, scores, weight):
    return tf.losses.sigmoid_cross_entropy(labels, scores, weights=weight)


@register('shift', 'none')
def as_it_is(scores, by):
    return scores


@register('shift', 'all')
def shifted(scores, by):
    return scores + tf.sign(scores) * by


register('shift', 'some')(lambda scores, by: tf.where(scores > by, scores, scores - by))


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(
        features, 3, kernel_initializer=tf.constant_initializer(0.2),
        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))
    scores = lookup('shift', params['shift'])(net, 0.05)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'scores': scores})
    lookup('loss', params['loss'])(labels, scores, params['weight'])
    loss = tf.losses.get_total_loss()
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {'mae': tf.metrics.mean_absolute_error(labels, scores)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.GradientDescentOptimizer(0.3).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(2).batch(4)


RESULT = {}
for loss, shift in [('squared', 'all'), ('huber', 'none'), ('entropy', 'some')]:
    estimator = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(),
        params={'loss': loss, 'shift': shift, 'weight': 0.7})
    estimator.train(input_fn)
    found = estimator.evaluate(input_fn)
    RESULT.update((loss + key, value) for key, value in found.items())
