"""A network that is called in one of two branches, by mode."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]
PARAMS = {"units": 4}


def net(x, units, is_training):
    x = tf.layers.dense(x, units, use_bias=False)
    x = tf.layers.dropout(x, 0.0, training=is_training)
    return tf.layers.dense(x, 1)


def model_fn(features, labels, mode, params):
    x = tf.reshape(features, [-1, 21])
    if mode == tf.estimator.ModeKeys.TRAIN:
        output = net(x, params["units"], is_training=True)
    else:
        output = net(x, params["units"], is_training=False)
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
