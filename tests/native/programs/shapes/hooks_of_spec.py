"""A hook of the specification logs parts of the loss and a metric."""
import numpy as np
import tensorflow as tf

PARAMS = {'size': .1, 'rate': .5, 'every': 3}


class Bounded(tf.train.SessionRunHook):
    """Ends a training whose values grow."""

    def __init__(self, loss, size, most):
        self.loss = loss
        self.size = size
        self.most = most

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(
            [self.loss, self.size, tf.train.get_global_step()])

    def after_run(self, run_context, run_values):
        loss, size, step = run_values.results
        if step < 1 or not 0. <= size < loss < self.most:
            raise ValueError('{} at {}'.format(loss, step))


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features['x'], 4, tf.nn.relu,
                          kernel_initializer=tf.constant_initializer(0.1))
    logits = tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer(0.2))
    probabilities = tf.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'p': probabilities})
    fit = tf.losses.sigmoid_cross_entropy(labels, logits)
    size = params['size'] * tf.reduce_mean(tf.square(logits))
    loss = fit + size
    accuracy = tf.metrics.accuracy(labels, tf.round(probabilities))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={'accuracy': accuracy})
    rate = tf.train.exponential_decay(
        params['rate'], tf.train.get_global_step(), 5, 0.9)
    optimizer = tf.train.GradientDescentOptimizer(rate)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    # What there is to see.
    log_hook = tf.train.LoggingTensorHook(
        {
            'train_loss': loss,
            'fit': fit,
            'size': size,
            'accuracy': accuracy[1],
            # 'logits': logits,
            'rate': rate,
            'step': tf.train.get_global_step(),
        },
        every_n_iter=params['every'])
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        training_hooks=[
            log_hook, tf.train.NanTensorHook(loss), Bounded(loss, size, 9.)])


def input_fn():
    x = np.linspace(-1., 1., 48).reshape(24, 2).astype(np.float32)
    y = (x.sum(1, keepdims=True) > 0.).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({'x': x}, y)).repeat(2).batch(6)
