"""Optimizer, train_op and metrics come from helpers of the module."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]
RATE = 0.3


def get_optimizer(kind, learning_rate):
    """Any of three."""
    if kind == "adam":
        return tf.train.AdamOptimizer(learning_rate)
    elif kind == "adagrad":
        optimizer = tf.train.AdagradOptimizer(learning_rate)
        return optimizer
    # plain descent for all other names
    return tf.train.GradientDescentOptimizer(learning_rate)


def create_train_op(cost, rate, kind, limit=1.0):
    """Clipped, with a rate that decays."""
    step = tf.train.get_or_create_global_step()
    decayed = tf.train.exponential_decay(rate, step, 4, 0.5)
    optimizer = get_optimizer(kind, decayed)
    pairs = optimizer.compute_gradients(cost)
    gradients, variables = zip(*pairs)
    gradients, _ = tf.clip_by_global_norm(gradients, limit)
    return optimizer.apply_gradients(zip(gradients, variables), global_step=step)


def metrics(truth, logits):
    classes = tf.argmax(logits, axis=1)
    accuracy = tf.metrics.accuracy(truth, classes)
    share = tf.metrics.mean_per_class_accuracy(truth, classes, 3)
    return {"accuracy": accuracy, "share": share, "mean": tf.metrics.mean(logits)}


def model_fn(features, labels, mode, params):
    step = tf.layers.dense(features["x"], 6, activation=tf.nn.tanh)
    logits = tf.layers.dense(step, 3)
    classes = tf.argmax(logits, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops=metrics(labels, logits))
    train_op = create_train_op(loss, RATE, params["kind"], limit=params["limit"])
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = draw.randint(3, size=count)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


def main():
    estimator = tf.estimator.Estimator(
        model_fn,
        model_dir=MODEL_DIR,
        params={"kind": "adagrad", "limit": 0.2},
        config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    )
    estimator.train(data, steps=8)
    return estimator.evaluate(lambda: data(50, seed=1))


RESULT = main()
