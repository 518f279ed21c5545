"""Metrics of several outputs, made in a loop over their names."""
import numpy as np
import tensorflow as tf

OUTPUTS = ('height', 'width')
COUNT = 2
LIMITS = [('small', 0.2), ('large', 0.6)]


def model_fn(features, labels, mode):
    values = tf.layers.dense(
        features['x'], 2, kernel_initializer=tf.constant_initializer(0.3))
    found = {'height': values[:, 0], 'width': values[:, 1]}
    loss = tf.losses.mean_squared_error(labels['height'], found['height'])
    loss += tf.losses.mean_squared_error(labels['width'], found['width'])
    train_op = None
    metrics = {}
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf.train.get_global_step())
        for name in OUTPUTS:
            tf.summary.scalar(name, tf.reduce_mean(found[name]))
    if mode == tf.estimator.ModeKeys.EVAL:
        for name in OUTPUTS:
            metrics['error of ' + name] = tf.metrics.mean_absolute_error(
                labels[name], found[name])
        metrics.update({
            kind: tf.metrics.mean(
                tf.to_float(found['height'] * found['width'] > limit))
            for kind, limit in LIMITS})
        metrics['rmse'] = tf.metrics.root_mean_squared_error(
            labels['height'], found['height'])
        for i in range(COUNT):
            metrics['mean%d' % (i + 1)] = tf.metrics.mean(values[:, i])
        for i, name in enumerate(OUTPUTS):
            metrics['largest ' + name] = tf.metrics.mean(
                tf.reduce_max(values[:, i]))
        metrics.update(mean=tf.metrics.mean(found['width']))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn():
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    y = {'height': x.sum(1), 'width': x[:, 1] - 0.5 * x[:, 0]}
    return tf.data.Dataset.from_tensor_slices(({'x': x}, y)).repeat(2).batch(6)
