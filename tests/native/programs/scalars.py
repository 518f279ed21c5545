"""Scalars of a model_fn in the event files, under the tags that TF 1 gave them."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], 8, activation=tf.nn.tanh)
    logits = tf.squeeze(tf.layers.dense(net, 1), 1)
    loss = tf.losses.mean_squared_error(labels, logits)
    tf.summary.scalar("train_loss", loss)
    tf.summary.scalar("rmse", tf.sqrt(loss))
    mean = tf.reduce_mean(logits)
    tf.summary.scalar("mean", mean)
    error = tf.identity(tf.abs(labels - logits)[0], name="error")
    tf.summary.scalar("error", error)
    tf.summary.scalar("first error/of all", error)
    with tf.name_scope("metrics"):
        tf.summary.scalar("error", error)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, logits)}
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        step = tf.train.get_global_step()
        rate = tf.train.exponential_decay(params["rate"], step, 5, 0.7)
        tf.summary.scalar("learning_rate", rate)
        tf.summary.scalar("rate", rate, family="training")
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.minimize(loss, step)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def data():
    draw = np.random.RandomState(0)
    x = draw.normal(size=(80, 6)).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(axis=1)))
    return data.repeat().batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(save_summary_steps=10, log_step_count_steps=7),
    params={"rate": 0.1},
)
estimator.train(data, steps=25)
estimator.train(data, steps=12)
RESULT = estimator.evaluate(data, steps=3)
