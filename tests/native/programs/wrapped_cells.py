"""Cells under one name that are wrapped, cells whose joined state nobody reads."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]
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
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 7, 3)).astype(np.float32)
    y = x[:, 0].sum(axis=1, keepdims=True).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params=PARAMS,
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
