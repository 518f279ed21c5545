"""Cells under one name that are wrapped, cells whose joined state nobody reads."""

import tensorflow as tf

PARAMS = {"units": 4}


def model_fn(features, labels, mode, params):
    forward = tf.nn.rnn_cell.BasicLSTMCell(num_units=params["units"], forget_bias=0.7)
    forward = tf.nn.rnn_cell.DropoutWrapper(cell=forward, output_keep_prob=1.0)
    backward = tf.nn.rnn_cell.BasicLSTMCell(num_units=params["units"], forget_bias=0.7)
    backward = tf.nn.rnn_cell.DropoutWrapper(cell=backward, output_keep_prob=1.0)
    _, states = tf.nn.bidirectional_dynamic_rnn(
        cell_fw=forward, cell_bw=backward, inputs=features, dtype=tf.float32
    )
    last = tf.concat([states[0][1], states[1][1]], axis=-1)
    with tf.variable_scope("deep", dtype=tf.float32):
        first = tf.nn.rnn_cell.GRUCell(3)
        second = tf.nn.rnn_cell.GRUCell(3)
        cells = tf.nn.rnn_cell.MultiRNNCell([first, second], state_is_tuple=False)
        steps, _ = tf.nn.dynamic_rnn(cells, features, dtype=tf.float32)
        scale = tf.get_variable("scale", [3])
    output = tf.layers.dense(tf.concat([last, steps[:, -1] * scale], 1), 1)
