"""An autoencoder: the data set has features alone."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    clean = features["x"]
    code = tf.layers.dense(features["noisy"], params["size"], activation=tf.nn.tanh)
    restored = tf.layers.dense(code, 6)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"code": code})
    loss = tf.reduce_mean(tf.squared_difference(clean, restored))
    if mode == tf.estimator.ModeKeys.EVAL:
        worst = tf.reduce_max(tf.abs(clean - restored), axis=1)
        metrics = {"worst": tf.metrics.mean(worst)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.MomentumOptimizer(params["learning_rate"], 0.9)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    noisy = x + draw.normal(size=x.shape).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices({"x": x, "noisy": noisy})
    return dataset.repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"size": 4, "learning_rate": 0.05},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
