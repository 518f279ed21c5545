"""An Estimator that travels starts from some variables of a checkpoint."""

import os

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    with tf.variable_scope("encoder"):
        net = tf.layers.dense(features, 32, tf.nn.relu, name="block1")
        net = tf.layers.dense(net, 16, tf.nn.relu, name="second")
    output = tf.layers.dense(net, 1, name="output")
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    trained = [v for v in tf.trainable_variables() if "block1" not in v.name]
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
    train_op = optimizer.minimize(loss, tf.train.get_global_step(), var_list=trained)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 64)).astype(np.float32)
    y = x[:, :4].sum(axis=1, keepdims=True).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(6).batch(20)


def build(model_dir, start):
    settings = tf.estimator.WarmStartSettings(
        start,
        vars_to_warm_start="encoder",
        var_name_to_prev_var_name={
            "encoder/second/kernel": "encoder/block2/kernel",
            "encoder/second/bias": "encoder/block2/bias",
        },
    )
    return tf.estimator.Estimator(
        model_fn,
        model_dir=model_dir,
        config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
        warm_start_from=settings,
    )


estimator = build(os.environ["MODEL_DIR"], os.environ["PRETRAINED"])
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
