"""Cells that a function within makes, inputs by mode, weights behind PREDICT's return."""

import numpy as np
import tensorflow as tf

PARAMS = {"units": 4, "keep": 1.0, "scale": 0.5}


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6, 3)).astype(np.float32)
    y = x[:, 0].sum(axis=1, keepdims=True).astype(np.float32)
    length = draw.randint(2, 7, size=count).astype(np.int32)
    rows = tf.data.Dataset.from_tensor_slices(({"x": x, "length": length}, y))
    return rows.repeat(6).batch(20)


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    keep = params["keep"] if training else 1.0
    if training:
        scaled = features["x"] * params["scale"]
    else:
        scaled = features["x"]

    def cell():
        made = tf.contrib.rnn.GRUCell(params["units"])
        return tf.contrib.rnn.DropoutWrapper(made, output_keep_prob=keep)

    inputs = tf.nn.dropout(scaled, keep_prob=keep)
    cells = tf.contrib.rnn.MultiRNNCell([cell() for _ in range(2)])
    _, states = tf.nn.dynamic_rnn(
        cells, inputs, sequence_length=features["length"], dtype=tf.float32
    )
    last = states[-1]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"last": last})
    with tf.variable_scope("loss"):
        slope = tf.get_variable("slope", [params["units"], 1])
        offset = tf.get_variable("offset", [1], initializer=tf.zeros_initializer())
    output = tf.matmul(last, slope) + offset
