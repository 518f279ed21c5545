"""A loss that is scaled for float16, and gradients that are clipped: by a function."""

import os

import numpy as np
import tensorflow as tf


def make_optimizer(params):
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(
        tf.train.MomentumOptimizer(params["rate"], 0.9), 0.3
    )
    if params["fp16"]:
        optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(
            optimizer, loss_scale=params["scale"]
        )
    return optimizer


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features, 6, tf.nn.tanh)
    net = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, net)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = make_optimizer(params)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    x = np.random.RandomState(0).normal(size=(60, 4)).astype(np.float32)
    y = x.prod(axis=1, keepdims=True) * 4
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(4).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=os.environ["MODEL_DIR"],
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"rate": 0.1, "fp16": True, "scale": 512},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(data)
