"""Variables by hand, a scope with an initialiser, gradients clipped one by one."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    size = params["size"]
    with tf.variable_scope("body", initializer=tf.glorot_normal_initializer()):
        weights = tf.get_variable("weights", [6, size])
        bias = tf.get_variable("bias", [size], initializer=tf.zeros_initializer())
        net = tf.nn.elu(tf.matmul(features["x"], weights) + bias)
        output = tf.layers.dense(net, 1, name="output")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": output})
    loss = tf.losses.mean_squared_error(labels, output)
    loss += 0.01 * tf.nn.l2_loss(weights)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {
            "mae": tf.metrics.mean_absolute_error(labels, output),
            "mse": tf.metrics.mean_squared_error(labels, output),
            "rmse": tf.metrics.root_mean_squared_error(labels, output),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.AdamOptimizer(params["learning_rate"])
    gradients = optimizer.compute_gradients(loss)
    gradients = [(tf.clip_by_norm(g, 0.5), v) for g, v in gradients]
    train_op = optimizer.apply_gradients(
        gradients, global_step=tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = x.sum(axis=1, keepdims=True).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"size": 7, "learning_rate": 0.02},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
