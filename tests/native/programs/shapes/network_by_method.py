"""A network that is asked for its layers by one method, and holds the kind of block."""
import numpy as np
import tensorflow as tf

PARAMS = {'filters': [2, 3], 'slope': .2}


def scaled(x, training):
    return tf.layers.batch_normalization(x, momentum=.8, training=training)


def residual(x, filters, shortcut, training):
    kept = x
    x = tf.nn.relu(scaled(x, training))
    if shortcut is not None:
        kept = shortcut(x)
    x = tf.layers.conv2d(x, filters, 3, padding='same', kernel_initializer=ramp)
    return kept + .1 * x


class Net(object):
    """Some stages of blocks."""

    def __init__(self, classes, filters, slope=.3):
        self.classes = classes
        self.filters = filters
        self.slope = slope
        self.block_fn = residual

    def _stage(self, x, filters, name, training):
        def shortcut(x):
            return tf.layers.conv2d(x, filters, 1, kernel_initializer=ramp)

        with tf.variable_scope(name):
            x = self.block_fn(x, filters, shortcut, training)
            x = self.block_fn(x, filters, None, training)
        return tf.maximum(self.slope * x, x)

    def build(self, images, training):
        skips = []
        net = images
        for i, filters in enumerate(self.filters):
            net = self._stage(net, filters, 'stage%d' % i, training)
            skips.append(tf.reduce_mean(net, [1, 2]))
        net = tf.concat(skips, 1)
        net = tf.layers.dropout(
            net, 0., noise_shape=[tf.shape(net)[0], 1], training=training)
        return tf.layers.dense(net, self.classes, kernel_initializer=ramp)


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = Net(3, params['filters'], slope=params['slope'])
    logits = net.build(features, training)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'logits': logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    hooks = []
    train_op = None
    if training:
        hooks.append(tf.train.LoggingTensorHook({'now': loss}, every_n_iter=2))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = tf.train.GradientDescentOptimizer(.05).minimize(
                loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=hooks)


X = np.sin(np.arange(12 * 16, dtype=np.float32)).reshape(12, 4, 4, 1)
Y = np.arange(12, dtype=np.int32) % 3
