"""Cells that a function within makes, inputs by mode, weights behind PREDICT's return."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


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
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6, 3)).astype(np.float32)
    y = x[:, 0].sum(axis=1, keepdims=True).astype(np.float32)
    length = draw.randint(2, 7, size=count).astype(np.int32)
    rows = tf.data.Dataset.from_tensor_slices(({"x": x, "length": length}, y))
    return rows.repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"units": 4, "keep": 1.0, "scale": 0.5},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
