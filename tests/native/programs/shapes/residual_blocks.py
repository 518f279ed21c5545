"""Residual blocks of which some are handed a function; sizes that a loop carries."""
import tempfile

import numpy as np
import tensorflow as tf


def conv(x, filters, size, strides, **kwargs):
    return tf.layers.conv2d(
        x, filters, size, strides=strides, kernel_initializer=ramp, **kwargs)


def block(x, filters, training, shortcut, strides):
    skipped = x
    if shortcut is not None:
        skipped = shortcut(x)
    x = conv(x, filters, 3, strides, padding='same', use_bias=False)
    x = tf.layers.batch_normalization(x, training=training, momentum=.5)
    return tf.nn.relu(x + skipped)


def early(x, filters, training, shortcut, strides):
    skipped = x if shortcut is None else shortcut(x)
    x = tf.layers.batch_normalization(x, training=training, momentum=.5)
    return skipped + conv(tf.nn.relu(x), filters, 3, strides, padding='same')


def stage(x, filters, block_fn, blocks, strides, training):
    outputs = 1 * filters

    def shortcut(x):
        return conv(x, outputs, 1, strides)

    x = block_fn(x, filters, training, shortcut, strides)
    for _ in range(1, blocks):
        x = block_fn(x, filters, training, None, 1)
    return x


class Network(object):
    """Stages of blocks, each with twice the filters of the one before."""

    def __init__(self, filters, stages, blocks):
        self.filters = filters
        self.stages = stages
        self.blocks = blocks
        self.block_fn = block if stages > 1 else early

    def __call__(self, x, training):
        filters = self.filters
        for _ in range(self.stages):
            x = stage(x, filters, self.block_fn, self.blocks, 2, training)
            filters *= 2
        axes = [1, 2] if self.stages else [1]
        x = tf.reduce_mean(x, axes)
        return tf.layers.dense(x, 2, kernel_initializer=ramp)


class Small(Network):
    def __init__(self, depth):
        super(Small, self).__init__(filters=2, stages=2, blocks=depth // 2)


def decayed(batch, bounds):
    rates = [.02 * batch, .01 * batch, .005 * batch]

    def rate_of(step):
        return tf.train.piecewise_constant(tf.cast(step, tf.int32), bounds, rates)
    return rate_of


def of_class(features, labels, mode, network, depth, rate_of):
    net = network(depth)
    logits = net(features, mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=tf.nn.softmax(logits))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        step = tf.train.get_or_create_global_step()
        rate = rate_of(step)
        tf.summary.scalar('rate', rate)
        for variable in tf.trainable_variables():
            tf.summary.histogram(variable.op.name, variable)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, step)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        eval_metric_ops={'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1))})


def model_fn(features, labels, mode, params):
    images = tf.reshape(features, [-1, 8, 8, 1])
    return of_class(images, labels, mode, Small, depth=params['depth'],
                    rate_of=decayed(params['batch'], [2, 4]))


X = np.sin(np.arange(12 * 64)).reshape(12, 64).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


estimator = tf.estimator.Estimator(
    model_fn, tempfile.mkdtemp(), params={'depth': 4, 'batch': 4})
for _ in range(2):
    estimator.train(input_fn, steps=3)
RESULT = estimator.evaluate(input_fn)
