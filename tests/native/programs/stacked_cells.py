"""Stacked cells: of one kind by a comprehension, of two kinds by a list."""

import tensorflow as tf

PARAMS = {"units": 4, "layers": 2}


def model_fn(features, labels, mode, params):
    cells = [tf.nn.rnn_cell.BasicLSTMCell(params["units"]) for _ in range(2)]
    stack = tf.contrib.rnn.MultiRNNCell(cells)
    outputs, states = tf.nn.dynamic_rnn(stack, features["x"], dtype=tf.float32)
    mixed = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.LSTMCell(5), tf.nn.rnn_cell.GRUCell(6, activation=tf.nn.relu)]
    )
    with tf.variable_scope("second"):
        _, last = tf.nn.dynamic_rnn(mixed, outputs, dtype=tf.float32)
    net = tf.concat([states[-1].h, states[0].c, last[-1]], 1)
    output = tf.layers.dense(net, 1, name="output")
