"""A GRU over sequences of several lengths, its outputs and its state."""

import tensorflow as tf

PARAMS = {"units": 4, "layers": 2}


def model_fn(features, labels, mode, params):
    cell = tf.nn.rnn_cell.GRUCell(params["units"])
    outputs, state = tf.nn.dynamic_rnn(
        cell, features["x"], sequence_length=features["length"], dtype=tf.float32
    )
    net = tf.concat([tf.reduce_mean(outputs, 1), state], 1)
    output = tf.layers.dense(net, 1, name="output")
