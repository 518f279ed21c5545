"""Weights whose sizes follow from tensors that only the call knows, or from texts."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]
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
