"""Moving averages of several replicas: an evaluation sees their mean, as before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from running import printed_by_both

# Batches differ much from each other, so that the replicas' averages do.
PROGRAM = """\
import json

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(7)
x = rng.normal(size=(96, 3)) * [1, 2, 3] + np.arange(96)[:, None] // 8
x = x.astype(np.float32)
y = x.sum(axis=1, keepdims=True)


def input_fn(epochs=None):
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(epochs).batch(8)


def model_fn(features, labels, mode):
    net = tf.layers.batch_normalization(
        features, momentum=0.9, training=mode == tf.estimator.ModeKeys.TRAIN)
    output = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.GradientDescentOptimizer(0.0001)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


config = tf.estimator.RunConfig(
    train_distribute=tf.contrib.distribute.MirroredStrategy(num_gpus=2))
estimator = tf.estimator.Estimator(model_fn, config=config)
for _ in range(2):
    estimator.train(input_fn, steps=5)
    results = estimator.evaluate(lambda: input_fn(1))
    print(json.dumps({name: float(value) for name, value in results.items()}))
"""


def test_evaluations_between_and_after_train_calls_see_the_mean(tmp_path: Path) -> None:
    old, new = printed_by_both(PROGRAM, tmp_path, replicas=2)
    assert len(old) == 2
    for before, after in zip(old, new, strict=True):
        # TF 1.15.5 was seen to take the mean; those of one replica are 6 % off.
        assert after == pytest.approx(before, rel=1e-5)


def test_replicas_share_a_loss_that_is_scaled(tmp_path: Path) -> None:
    update = "train_op = optimizer.minimize(loss, tf.train.get_global_step())"
    scaled = """if SCALE != 1:
            scaled = optimizer.compute_gradients(loss * SCALE)
            unscaled = [(g / SCALE, v) for g, v in scaled]
            train_op = optimizer.apply_gradients(
                unscaled, tf.train.get_global_step())
        else:
            train_op = optimizer.minimize(loss, tf.train.get_global_step())"""
    program = PROGRAM.replace(update, scaled).replace("y =", "SCALE = 16\ny =", 1)
    old, new = printed_by_both(program, tmp_path, replicas=2)
    for before, after in zip(old, new, strict=True):
        assert after == pytest.approx(before, rel=1e-5)
