"""A function is given the strategy and returns the Estimator with its specs."""

import os

import numpy as np
import tensorflow as tf


def get_distribution_strategy(num_gpus):
    if num_gpus == 0:
        return tf.contrib.distribute.OneDeviceStrategy("device:CPU:0")
    return tf.contrib.distribute.MirroredStrategy(num_gpus=num_gpus)


def input_fn(seed, repeat):
    rng = np.random.RandomState(seed)
    x = rng.rand(64, 4).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, x[:, :1]))
    return (dataset.repeat() if repeat else dataset).batch(8)


def model_fn(features, labels, mode):
    pred = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, pred)
    opt = tf.train.GradientDescentOptimizer(0.1)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=opt.minimize(loss, tf.train.get_global_step()))


def create(model_dir, distribution):
    config = tf.estimator.RunConfig(
        train_distribute=distribution, model_dir=model_dir, log_step_count_steps=1)
    estimator = tf.estimator.Estimator(model_fn=model_fn, config=config)
    train_spec = tf.estimator.TrainSpec(lambda: input_fn(0, True), max_steps=8)
    eval_spec = tf.estimator.EvalSpec(lambda: input_fn(1, False), steps=None)
    return estimator, train_spec, eval_spec


def run(num_gpus):
    distribution = get_distribution_strategy(num_gpus)
    estimator, train_spec, eval_spec = create(os.environ["MODEL_DIR"], distribution)
    results, _ = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    return results


RESULT = run(0)
