"""RMSProp, centered and with momentum, whose rate warms up."""

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
        step = tf.train.get_global_step()
        warm = tf.cast(step + 1, tf.float32) / 8.0
        decayed = tf.train.exponential_decay(params["rate"], step, 5, 0.7)
        rate = tf.cond(step < 8, lambda: warm * params["rate"], lambda: decayed)
        optimizer = tf.train.RMSPropOptimizer(
            rate, momentum=0.5, epsilon=1e-3, centered=True
        )
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
