"""Two directions, with lengths: LSTM cells, then GRU cells."""

import tensorflow as tf

PARAMS = {"units": 4, "layers": 2}


def model_fn(features, labels, mode, params):
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.LSTMCell(params["units"]),
        tf.nn.rnn_cell.LSTMCell(params["units"]),
        features["x"],
        sequence_length=features["length"],
        dtype=tf.float32,
    )
    joined = tf.concat(outputs, 2)
    with tf.variable_scope("second"):
        forward = tf.nn.rnn_cell.GRUCell(3)
        backward = tf.nn.rnn_cell.GRUCell(3)
        (ahead, back), _ = tf.nn.bidirectional_dynamic_rnn(
            forward, backward, joined, dtype=tf.float32
        )
    net = tf.concat([ahead[:, -1], back[:, 0], states[0].h, states[1].c], 1)
    output = tf.layers.dense(net, 1, name="output")
