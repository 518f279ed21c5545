"""A block of layers for any model."""

import tensorflow.compat.v1 as tf


def block(x, filters, training, rate=0.0):
    """Two layers."""
    size = filters * 2  # twice as many
    with tf.variable_scope("block_%d" % filters):
        x = tf.layers.dense(x, size, activation=tf.nn.relu)
        return tf.layers.dropout(x, rate, training=training)
