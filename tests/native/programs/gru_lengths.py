"""A GRU over sequences of several lengths, its outputs and its state."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    cell = tf.nn.rnn_cell.GRUCell(params["units"])
    outputs, state = tf.nn.dynamic_rnn(
        cell, features["x"], sequence_length=features["length"], dtype=tf.float32
    )
    net = tf.concat([tf.reduce_mean(outputs, 1), state], 1)
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
