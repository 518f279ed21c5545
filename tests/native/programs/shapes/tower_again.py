"""A tower that is called again with its variables, where it trains and is evaluated."""
import tempfile

import numpy as np
import tensorflow as tf


def embedded(x, is_training, sizes):
    for number, size in enumerate(sizes):
        with tf.variable_scope('layer_%d' % number):
            x = tf.layers.dense(x, size, kernel_initializer=ramp, use_bias=False)
            x = tf.layers.dropout(tf.tanh(x), 0., training=is_training)
    return tf.layers.dense(x, 2, kernel_initializer=ramp)


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN

    def tower(x):
        with tf.variable_scope('tower', reuse=tf.AUTO_REUSE):
            return tf.nn.l2_normalize(embedded(x, is_training, params['sizes']), 1)

    anchor = tower(features['anchor'])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'embedded': anchor})
    near = tower(features['near'])
    far = tower(features['far'])
    gap = tf.reduce_sum(tf.square(anchor - near) - tf.square(anchor - far), axis=1)
    loss = tf.reduce_mean(tf.nn.relu(gap + params['margin']))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={'gap': tf.metrics.mean(gap)})
    train_op = tf.train.MomentumOptimizer(.05, .9).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(48.)).reshape(12, 4).astype(np.float32)


def input_fn():
    data = {'anchor': X, 'near': X + .3 * np.roll(X, 1, 1), 'far': np.roll(X, 2, 0)}
    return tf.data.Dataset.from_tensor_slices(data).batch(4)


estimator = tf.estimator.Estimator(
    model_fn, tempfile.mkdtemp(), params={'sizes': [5, 4], 'margin': 4.})
for _ in range(3):
    estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
found = estimator.predict(
    lambda: tf.data.Dataset.from_tensor_slices({'anchor': X[:3]}).batch(3))
RESULT['embedded'] = sum(one['embedded'][0] for one in found)
