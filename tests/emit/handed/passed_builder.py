"""A function that makes the Estimator is given to the one that trains it."""

import functools
import os

import numpy as np
import tensorflow as tf

LOG, STOP, COUNT = True, True, bool(os.environ.get("COUNT", "1"))


class CountHook(tf.train.SessionRunHook):
    def __init__(self, every):
        self.every = every
        self.step = 0

    def after_run(self, run_context, run_values):
        self.step += 1
        if self.step % self.every == 0:
            COUNTED.append(self.step)


COUNTED = []


def model_fn(features, labels, mode, params, hidden):
    net = tf.layers.dense(features, hidden, activation=tf.nn.relu)
    out = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.GradientDescentOptimizer(params["lr"]).minimize(
        loss, global_step=tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def data(repeat=False):
    rng = np.random.RandomState(5)
    x = rng.rand(32, 3).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, x[:, :1] * 2 - x[:, 1:2]))
    return (dataset.repeat() if repeat else dataset).batch(8)


def build(model_dir, params): return tf.estimator.Estimator(
    functools.partial(model_fn, hidden=10), model_dir, params=params)


def run(estimator_fn, directory):
    estimator = estimator_fn(directory, {"lr": 0.1})
    hooks = []
    if COUNT:
        hooks.append(CountHook(3))
    if LOG:
        # The loss of every step.
        logging_hook = tf.train.LoggingTensorHook(["loss"], every_n_iter=1)
        hooks.append(logging_hook)
    if STOP:
        hooks.append(tf.train.StopAtStepHook(last_step=8))
    estimator.train(lambda: data(repeat=True), steps=20, hooks=hooks)
    return estimator.evaluate(data)


RESULT = dict(run(build, os.environ["MODEL_DIR"]))
RESULT["counted"] = sum(COUNTED)
