"""Blocks that are always handed the same normalization, of averages nothing updates."""
import tempfile

import numpy as np
import tensorflow as tf


def batch_norm(net, is_training):
    return tf.layers.batch_normalization(net, training=is_training, momentum=.5)


def block(net, filters, is_training, norm_fn, pool=True):
    net = tf.layers.conv2d(net, filters, 2, use_bias=False, kernel_initializer=ramp)
    net = tf.nn.elu(norm_fn(net, is_training))
    return tf.reduce_mean(net, [1, 2]) if pool else net


def model_fn(features, labels, mode):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    net = block(features, 2, is_training, batch_norm, pool=False)
    net = block(net, 3, is_training, norm_fn=batch_norm)
    outputs = tf.layers.dense(net, 1, kernel_initializer=ramp)
    loss = tf.losses.mean_squared_error(labels, outputs)
    tf.summary.scalar('largest', tf.reduce_max(outputs))
    hook = tf.train.SummarySaverHook(
        10, output_dir=tempfile.mkdtemp(), summary_op=tf.summary.merge_all())
    train_op = tf.train.GradientDescentOptimizer(.01).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=[hook])


X = np.sin(np.arange(288.)).reshape(12, 4, 3, 2).astype(np.float32)
Y = X.sum((1, 2, 3))[:, None]
