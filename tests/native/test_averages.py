"""Averages of weights that an update keeps, and evaluations of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from running import printed_by_both, rewrite

PROGRAM = """\
import json

import numpy as np
import tensorflow as tf

x = np.random.RandomState(7).normal(size=(48, 3)).astype(np.float32)
y = (x * [1, 2, 3]).sum(axis=1, keepdims=True).astype(np.float32)


def input_fn(epochs=None):
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(epochs).batch(8)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 4, activation=tf.nn.tanh, use_bias=False)
    net = tf.layers.batch_normalization(
        net, momentum=0.9, training=mode == tf.estimator.ModeKeys.TRAIN)
    output = tf.layers.dense(net, 1)
    step = tf.train.get_or_create_global_step()
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    scaffold = None
    if mode != tf.estimator.ModeKeys.TRAIN:
        saver = tf.train.Saver(average.variables_to_restore())
        scaffold = tf.train.Scaffold(saver=saver)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(
            mode, predictions={'y': output}, scaffold=scaffold)
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, scaffold=scaffold)
    optimizer = tf.train.MomentumOptimizer(0.02, 0.9)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, step)
    with tf.control_dependencies([train_op]):
        train_op = average.apply(tf.trainable_variables())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


config = tf.estimator.RunConfig()
estimator = tf.estimator.Estimator(model_fn, config=config)
for _ in range(2):
    estimator.train(input_fn, steps=6)
    loss = estimator.evaluate(lambda: input_fn(1))['loss']
    first = next(estimator.predict(lambda: input_fn(1)))['y']
    print(json.dumps([float(loss), *map(float, first)]))
"""
CONFIG = "tf.estimator.RunConfig("
MIRRORED = f"""{CONFIG}
    train_distribute=tf.contrib.distribute.MirroredStrategy(num_gpus=2))"""
UPDATE = """\
    with tf.control_dependencies([train_op]):
        train_op = average.apply(tf.trainable_variables())
"""


@pytest.mark.tensorflow
@pytest.mark.parametrize("replicas", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_training_goes_on_from_the_weights_and_evaluates_averages(
    replicas: int, tmp_path: Path
) -> None:
    """As compat does, whose figures are those of TF 1.15.5 to seven digits."""
    program = PROGRAM.replace(f"{CONFIG})", MIRRORED) if replicas > 1 else PROGRAM
    old, new = printed_by_both(program, tmp_path, replicas=replicas)
    assert len(old) == 2
    for before, after in zip(old, new, strict=True):
        assert after == pytest.approx(before, rel=2e-5)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("tf.trainable_variables()", "tf.trainable_variables()[:2]", "some variables"),
        (UPDATE, "    train_op = average.apply()\n", "do not wait"),
        ("num_updates=step", "zero_debias=True", "more than its decay"),
        ("predictions={'y': output}, scaffold=scaffold", "{'y': output}", "some modes"),
        ("average.variables_to_restore()", "max_to_keep=1", "scaffold"),
    ],
)
def test_what_else_is_averaged_or_restored_is_kept(
    old: str, new: str, why: str
) -> None:
    assert old in PROGRAM
    text, reason = rewrite(PROGRAM.replace(old, new))
    assert text is None
    assert why in reason
