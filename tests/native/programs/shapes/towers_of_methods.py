"""Towers that share their weights: methods call them, whose scopes follow from rounds."""
import tempfile

import numpy as np
import tensorflow as tf


def parts(x, widths, scope_name, reuse=False):
    found = []
    for width in widths:
        scope = scope_name + '_' + str(width)
        with tf.variable_scope(scope, reuse=reuse):
            found.append(tf.layers.dense(
                x, width, tf.nn.tanh, kernel_initializer=ramp, name='part'))
    return tf.concat(found, 1)


class Matcher(object):
    """Compares two rows."""

    def __init__(self, widths):
        self.widths = widths
        self.start = ramp

    def encoded(self, x, kind, reuse=tf.AUTO_REUSE):
        widths = self.widths if kind == 'left' else self.widths[:1]
        return parts(x, widths, scope_name=kind + 'part', reuse=reuse)

    def deep(self, x):
        for number in range(2):
            name = 'deep_{}'.format(number)
            with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
                x = tf.layers.dense(
                    x, 3 - number, tf.nn.sigmoid, kernel_initializer=self.start)
        return x

    def tower(self, features, prefix):
        left, right = tf.split(features[prefix + '_row'], 2, axis=1)
        both = tf.concat(
            [self.encoded(left, 'left'), self.encoded(right, 'right')], 1)
        return self.deep(both) * self.scale

    def model_fn(self, features, labels, mode):
        self.scale = 2.
        first = self.tower(features, 'first')
        second = self.tower(features, 'second')
        score = tf.reduce_sum(first * second, 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={'score': score})
        loss = tf.losses.mean_squared_error(labels, score)
        train_op = tf.train.AdagradOptimizer(.1).minimize(
            loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(48, dtype=np.float32)).reshape(12, 4)
Z = np.cos(np.arange(48, dtype=np.float32)).reshape(12, 4)
Y = (X * Z).sum(1)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(
        ({'first_row': X, 'second_row': Z}, Y)).batch(4).repeat(3)


estimator = tf.estimator.Estimator(Matcher([4, 2]).model_fn, tempfile.mkdtemp())
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
RESULT['sum'] = sum(one['score'] for one in estimator.predict(input_fn))
