"""Stacked cells: of one kind by a comprehension, of two kinds by a list."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


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
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 7, 3)).astype(np.float32)
    length = draw.randint(1, 8, size=count).astype(np.int32)
    y = x[:, 0].sum(axis=1, keepdims=True).astype(np.float32)
    features = {"x": x, "length": length}
    return tf.data.Dataset.from_tensor_slices((features, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"units": 4, "layers": 2},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
