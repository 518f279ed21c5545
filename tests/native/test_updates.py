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


@pytest.mark.parametrize("first", ["", "normalizer_fn = None\n    "])
def test_averages_may_be_updated_in_place(first: str) -> None:
    program = PROGRAM.format(how="updates_collections=None, ")
    text, reason = rewrite(program.replace("net =", f"{first}net =", 1))
    assert text is not None, reason
    assert "SampleNormalization(" in text


TRAINS = """\
import tensorflow as tf


def optimizer_of(step, **options):
    return tf.train.AdamOptimizer(0.1 / (1.0 + tf.cast(step, tf.float32)), **options)


def trained(loss, step):
    {first}
    return tf.train.AdamOptimizer(0.1).minimize(loss, step)


def model_fn(features, labels, mode):
    output = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, output)
    step = tf.train.get_global_step()
    train_op = {train_op}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


@pytest.mark.parametrize(
    ("first", "train_op", "why"),
    [
        ("loss = loss + 1.0", "trained(loss, step)", "something else than the loss"),
        ("", "optimizer_of(step).minimize(loss, step)", "the step is handed on"),
        (
            "",
            "optimizer_of(tf.train.get_global_step()).minimize(loss, step)",
            "the step is handed on",
        ),
    ],
)
def test_what_would_train_otherwise_is_kept(
    first: str, train_op: str, why: str
) -> None:
    text, reason = rewrite(TRAINS.format(first=first, train_op=train_op))
    assert text is None
    assert why in reason


def test_a_rate_of_the_step_that_a_helper_is_given() -> None:
    program = TRAINS.format(
        first="", train_op="optimizer_of(step).minimize(loss, step)"
    )
    text, reason = rewrite(program.replace(", **options", ""))
    assert text is not None, reason
    assert "Schedule(self.learning_rate)" in text
    assert "return 0.1 / (1.0 + tf.cast(step, tf.float32))" in text
