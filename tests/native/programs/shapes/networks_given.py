"""Model functions that are given their networks: by a partial, a factory, in params."""
import functools
import tempfile

import numpy as np
import tensorflow as tf

X = np.linspace(-1., 1., 32).reshape(16, 2).astype(np.float32)
Y = (X.sum(1) > .2).astype(np.int32)


def ramp(shape, dtype=tf.float32, partition_info=None):
    count = int(np.prod(shape))
    return tf.constant(np.cos(np.arange(count)).reshape([int(n) for n in shape]), dtype)


def narrow(x, classes, training):
    x = tf.layers.dense(x, 3, tf.tanh, kernel_initializer=ramp)
    x = tf.layers.dropout(x, 0., training=training)
    return tf.layers.dense(x, classes, kernel_initializer=ramp)


def wide(x, units=(5, 4)):
    for count in units:
        x = tf.layers.dense(x, count, tf.nn.relu, kernel_initializer=ramp)
    return tf.layers.dense(x, 2, kernel_initializer=ramp)


def given(features, labels, mode, params, network=None):
    logits = network(features, params['classes'], mode == tf.estimator.ModeKeys.TRAIN)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_model_fn(builder, optimizer_class=tf.train.AdagradOptimizer):
    def model_fn(features, labels, mode):
        logits = builder(features)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer = optimizer_class(.2)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    return model_fn


def configured(features, labels, mode, params):
    logits = params['network'](features, (params['units'],))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(params['rate']).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


RESULT = {}
for name, model_fn, params in [
        ('partial', functools.partial(given, network=narrow), {'classes': 2}),
        ('factory', make_model_fn(wide), None),
        ('params', configured, {'rate': .3, 'units': 6, 'network': wide})]:
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params=params)
    for _ in range(3):
        estimator.train(input_fn)
    RESULT[name] = float(estimator.evaluate(input_fn)['loss'])
