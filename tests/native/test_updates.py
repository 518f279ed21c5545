"""Moving averages that nobody updates, and those that their layers update themselves."""

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
