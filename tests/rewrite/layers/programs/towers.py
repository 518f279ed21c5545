"""Layers in helpers of another file, shared by scope, counted in loops."""

import shutil

import numpy as np
import tensorflow as tf
from towers_blocks import block


def tower(net, sizes, is_training, name="tower"):
    """One of two that share their variables."""
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        for i, size in enumerate(sizes):
            # each size
            net = tf.layers.dense(net, size, name="dense_%d" % i)
            net = block(net, size, is_training)
            if size > 3:
                net = tf.layers.dense(net, size)
        scale = tf.get_variable(
            "scale", [net.shape[-1]], initializer=tf.ones_initializer()
        )
        return net * scale


def model_fn(features, labels, mode, params):
    """Two towers."""
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    x = features["x"]
    first = tower(x, params["sizes"], is_training)
    second = tower(x * 2.0, params["sizes"], is_training)
    net = tf.concat([first, second], 1)
    # Not in the towers: two updates of one moving average race.
    net = tf.layers.batch_normalization(net, training=is_training)
    tf.summary.histogram("net", net)
    if params["deep"]:
        regularizer = tf.keras.regularizers.l2(0.01)
        net = tf.layers.dense(net, 5, kernel_regularizer=regularizer)
    out = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out)
    loss += tf.losses.get_regularization_loss()
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.AdamOptimizer(0.05)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
