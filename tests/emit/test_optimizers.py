"""Optimizers that no variable holds."""

from __future__ import annotations

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    y = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, y)
    step = tf.train.get_global_step()
    base = params["rate"] * 2
    rate = RATE
    train_op = tf.train.OPTIMIZER.minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(([[1., 2.]], [[1.]])).repeat()


est = tf.estimator.Estimator(model_fn, params={"rate": 0.01})
est.train(input_fn, steps=20)
"""
DECAY = "tf.train.exponential_decay(base, step, 2, 0.5)"


@pytest.mark.parametrize(
    ("rate", "optimizer"),
    [
        ("base", "AdamOptimizer(rate)"),
        (DECAY, "AdamOptimizer(rate)"),
        ("base", "MomentumOptimizer(rate, 0.9)"),
    ],
)
def test_what_an_optimizer_without_a_variable_needs_comes_along(
    rate: str, optimizer: str
) -> None:
    code = PROGRAM.replace("RATE", rate).replace("OPTIMIZER", optimizer)
    result = run(code)
    text = result.module.code
    compile(text, "program.py", "exec")
    assert {f.tier for f in result.findings} == {Tier.NATIVE}
    # The rate is made before the optimizer, from what it was made of.
    if "base" in rate + optimizer:
        assert text.index('base = params["rate"] * 2') < text.index("optimizer = ")
    assert "get_global_step" not in text


@pytest.mark.parametrize(
    ("rate", "optimizer"),
    [
        (DECAY, "MomentumOptimizer(rate, 0.9)"),
        ("0.1", f"MomentumOptimizer({DECAY}, momentum=0.9)"),
    ],
)
def test_momentum_of_steps_whose_rate_changes_is_for_the_loop_module(
    rate: str, optimizer: str
) -> None:
    code = PROGRAM.replace("RATE", rate).replace("OPTIMIZER", optimizer)
    (finding,) = run(code).findings
    assert "momentum with a rate that changes" in (finding.reason or "")
    assert finding.tier is not Tier.NATIVE
