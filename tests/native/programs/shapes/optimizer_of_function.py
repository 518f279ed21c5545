"""Functions choose the optimizer and its rate, for a model_fn and for a canned model."""
import tempfile

import numpy as np
import tensorflow as tf

OPTIONS = {'kind': 'Momentum', 'rate': 0.02, 'decays': True}


def make_rate(options):
    rate = options['rate']
    if options['decays']:
        rate = tf.train.exponential_decay(
            rate, tf.train.get_global_step(), decay_steps=4, decay_rate=0.8)
    return rate


def make_optimizer(options):
    if options['kind'] == 'SGD':
        optimizer = tf.train.GradientDescentOptimizer(make_rate(options))
    elif options['kind'] == 'Momentum':
        optimizer = tf.train.MomentumOptimizer(
            learning_rate=make_rate(options), momentum=0.5)
    else:
        raise ValueError(options['kind'])
    return optimizer


def model_fn(features, labels, mode, params):
    out = tf.layers.dense(
        features['x'], 1, kernel_initializer=tf.constant_initializer(0.3))
    loss = tf.losses.mean_squared_error(labels, out)
    optimizer = make_optimizer(params)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({'x': x}, x.sum(1, keepdims=True)))
    return data.repeat(4).batch(6)


estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params=OPTIONS)
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
linear = tf.estimator.LinearRegressor(
    [tf.feature_column.numeric_column('x', (3,))], tempfile.mkdtemp(),
    optimizer=lambda: make_optimizer(OPTIONS))
linear.train(input_fn)
for name, value in linear.evaluate(input_fn).items():
    RESULT['linear ' + name] = value
