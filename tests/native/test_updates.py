"""Moving averages that nobody updates, that layers update; and writes of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from running import rewrite

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.contrib.layers.batch_norm(features, {how}is_training=training)
    output = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, output)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


@pytest.mark.parametrize("how", ["", "updates_collections='own', "])
def test_averages_that_are_never_updated_keep_their_program(how: str) -> None:
    text, reason = rewrite(PROGRAM.format(how=how))
    assert text is None
    assert "never updated" in reason


def test_averages_may_be_updated_in_place() -> None:
    text, reason = rewrite(PROGRAM.format(how="updates_collections=None, "))
    assert text is not None, reason
    assert "SampleNormalization(" in text


@pytest.mark.parametrize(
    "write",
    [
        "tf.scatter_sub(centers, labels, near - net)",
        "tf.group(tf.assign(centers, centers * 0.5))",
        "centers.assign(centers * 0.5)",
        "centers.scatter_nd_sub([[0]], net[:1])",
    ],
)
def test_a_write_that_the_update_waits_for_is_not_lost(write: str) -> None:
    text, reason = rewrite(f"""\
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.layers.dense(features['x'], 2)
    centers = tf.get_variable('centers', [2, 2], trainable=False)
    near = tf.gather(centers, labels)
    loss = tf.reduce_mean(tf.square(net - near))
    written = {write}
    with tf.control_dependencies([written]):
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
""")
    assert text is None
    assert "has no place in a Task" in reason
