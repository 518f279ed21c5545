"""An Experiment that a runner makes, whose schedule has a name."""
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn.python.learn import learn_runner

SEEN = []


class Count(tf.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        SEEN.append(1)


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(
        features['x'], 1, kernel_initializer=tf.constant_initializer(0.3))
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(params.rate).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        eval_metric_ops={'mean': tf.metrics.mean(logits)})


def input_fn():
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({'x': x}, x.sum(1, keepdims=True)))
    return data.repeat(3).batch(6)


def experiment_fn(run_config, hparams):
    estimator = tf.estimator.Estimator(model_fn, config=run_config, params=hparams)
    return tf.contrib.learn.Experiment(
        estimator=estimator,
        train_input_fn=input_fn,
        eval_input_fn=input_fn,
        train_steps=6,
        eval_steps=None,
        train_monitors=[Count()],
        min_eval_frequency=100)


config = tf.contrib.learn.RunConfig(model_dir=tempfile.mkdtemp())
scores, _ = learn_runner.run(
    experiment_fn=experiment_fn, run_config=config,
    hparams=tf.contrib.training.HParams(rate=0.1))
RESULT = dict(scores, seen=len(SEEN))
