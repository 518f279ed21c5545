"""A scope of a checkpoint goes into another scope; the head alone is trained."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def block(net, units, name):
    return tf.layers.dense(net, units, tf.nn.relu, name=name)


def model_fn(features, labels, mode, params):
    with tf.variable_scope("body"):
        net = block(features["x"], 32, "block1")
        net = block(net, 16, "block2")
    with tf.variable_scope("head"):
        output = tf.layers.dense(net, 1, name="output")
    tf.train.init_from_checkpoint(params["start"], {"encoder/": "body/"})
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    head = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="head")
    optimizer = tf.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf.train.get_global_step(), var_list=head)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 64)).astype(np.float32)
    y = x[:, :4].sum(axis=1, keepdims=True).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"start": os.environ["PRETRAINED"]},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
