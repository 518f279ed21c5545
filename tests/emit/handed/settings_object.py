"""A trainer object keeps its RunConfig; commands make the Estimator anew."""

import os

import numpy as np
import tensorflow as tf


class Settings(object):
    lr = 0.1
    verbose = True


def data(seed, repeat=False):
    rng = np.random.RandomState(seed)
    x = rng.rand(64, 4).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, x.argmax(axis=1).astype(np.int32)))
    return (dataset.repeat() if repeat else dataset).batch(16)


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features, 4, name="out")
    pred = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"class": pred})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    opt = tf.train.GradientDescentOptimizer(params["lr"])
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=opt.minimize(loss, tf.train.get_global_step()),
        eval_metric_ops={"acc": tf.metrics.accuracy(labels, pred)})


class Runner(object):
    def __init__(self, settings, model_dir):
        self.settings = settings
        self.config = tf.estimator.RunConfig(
            model_dir=model_dir, save_checkpoints_steps=4, log_step_count_steps=1)
        self.estimator = tf.estimator.Estimator(
            model_fn, params={"lr": settings.lr}, config=self.config)

    def train(self, steps):
        hooks = []
        if self.settings.verbose:
            hooks.append(tf.train.StepCounterHook(every_n_steps=1))
        self.estimator.train(lambda: data(0, repeat=True), hooks=hooks, max_steps=steps)

    def evaluate(self):
        figures = dict(self.estimator.evaluate(lambda: data(1)))
        figures["classes"] = sum(
            p["class"] for p in self.estimator.predict(lambda: data(2)))
        return figures


runner = Runner(Settings(), os.environ["MODEL_DIR"])
runner.train(8)
RESULT = runner.evaluate()
RESULT["evaluated"] = os.path.basename(runner.estimator.eval_dir()) == "eval"
