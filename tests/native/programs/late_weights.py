"""Weights whose sizes follow from tensors that only the call knows, or from texts."""

import numpy as np
import tensorflow as tf

PARAMS = {"widths": "4,2".split(",")}  # texts, as of flags


def crossed(first, second, width, index):
    rows = int(first.get_shape()[1])
    more = int(second.get_shape()[1])
    outer = tf.einsum("bik,bjk->bkij", second, first)
    outer = tf.reshape(outer, [-1, 3, rows * more])
    filters = tf.get_variable(f"filter_{index}", shape=(rows * more, width))
    return tf.transpose(tf.einsum("bkn,nw->bkw", outer, filters), [0, 2, 1])


def model_fn(features, labels, mode, params):
    net = crossed(features, features, params["widths"][0], 0)
    net = crossed(features, net, params["widths"][1], 1)
    net = tf.reshape(net, [-1, 6])
    half = tf.concat([net, tf.reduce_sum(features, 1)], 1)
    size, count = half.shape[1], net.shape[1]
    kernel = tf.Variable(
        np.linspace(-0.1, 0.1, int(size * count)).reshape(size, count), dtype=tf.float32
    )
    bias = tf.get_variable("bias", [int(count) * 2 / 2], initializer=tf.zeros_initializer())
    output = tf.reduce_sum(tf.matmul(half, kernel) * net + bias, 1, keepdims=True)
