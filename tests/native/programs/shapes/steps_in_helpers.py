"""A rate that a method computes of the step, for an optimizer of a table."""
import numpy as np
import tensorflow as tf

PARAMS = {'optimizer': 'momentum', 'rate': 0.1, 'warm': 6, 'beta': 0.01}
OPTIMIZERS = {
    'adam': tf.train.AdamOptimizer,
    'momentum': lambda lr: tf.train.MomentumOptimizer(lr, 0.9),
}


def progress(warm):
    step = tf.cast(tf.train.get_or_create_global_step(), tf.float32)
    return tf.minimum(1.0, (step + 1.0) / warm)


def warmed_up(params):
    return params['rate'] * progress(params['warm'])


def model_fn(features, labels, mode, params):
    values = tf.layers.dense(
        features['x'], 1, kernel_initializer=tf.constant_initializer(0.3))
    loss = tf.losses.mean_squared_error(labels, values)
    loss += params['beta'] * progress(10.0) * tf.reduce_mean(tf.abs(values))
    if mode == tf.estimator.ModeKeys.EVAL:
        ops = {'mae': tf.metrics.mean_absolute_error(labels, values)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=ops)
    rate = warmed_up(params)
    tf.summary.scalar('rate', rate)
    optimizer = OPTIMIZERS[params['optimizer']](rate)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(3).normal(size=(48, 3)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(
        ({'x': x}, x.sum(1, keepdims=True))).repeat(2).batch(6)
