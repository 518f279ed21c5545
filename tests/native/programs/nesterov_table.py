"""A rate that warms up; momentum of Nesterov on a table."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    ids = tf.cast(tf.abs(features["x"] * 9), tf.int32) % 41
    table = tf.get_variable(
        "table", [41, 4], initializer=tf.truncated_normal_initializer(stddev=0.3)
    )
    net = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
    logits = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, tf.squeeze(logits, 1))
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        step = tf.train.get_global_step()
        warm = tf.cast(step + 1, tf.float32) / 8.0
        decayed = tf.train.exponential_decay(params["rate"], step, 5, 0.7)
        rate = tf.cond(step < 8, lambda: warm * params["rate"], lambda: decayed)
        optimizer = tf.train.MomentumOptimizer(rate, 0.8, use_nesterov=True)
        train_op = optimizer.minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    draw = np.random.RandomState(0)
    x = draw.normal(size=(80, 6)).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(axis=1)))
    return data.repeat().batch(20)


strategy = tf.distribute.MirroredStrategy()
estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(train_distribute=strategy),
    params={"rate": 0.5},
)
estimator.train(data, steps=24)
