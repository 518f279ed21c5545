"""Momentum whose rate falls and rises again."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], 8, activation=tf.nn.tanh)
    logits = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, tf.squeeze(logits, 1))
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        step = tf.train.get_or_create_global_step()
        rate = tf.train.piecewise_constant(
            step, [6, 14], [params["rate"], 0.2 * params["rate"], 0.5 * params["rate"]]
        )
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
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
    params={"rate": 0.02},
)
estimator.train(data, steps=24)
