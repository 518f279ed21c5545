"""Helpers that a model_fn leaves its training to are written out in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

HELPERS = (Path(__file__).parent / "model_fns" / "helpers_train.py").read_text("utf-8")


def test_a_helper_is_written_out_with_what_it_was_given() -> None:
    result = run(HELPERS)
    text = result.module.code
    assert {finding.tier for finding in result.findings} == {Tier.NATIVE}
    for helper in ("get_optimizer", "create_train_op", "def metrics"):
        assert helper not in text
    assert 'if params["kind"] == "adam":' in text
    assert "# Any of three." in text
    assert 'clip_by_global_norm(gradients, params["limit"])' in text
    # A name that the model_fn has for something else.
    assert "classes_ = tf.argmax(logits, axis=1)" in text
    assert "optimizer = optimizer\n" not in text


def test_a_helper_that_others_call_stays_as_well() -> None:
    text = run(HELPERS + "\n\ndef other():\n    return metrics(1, 2)\n").module.code
    assert "def metrics(truth, logits):" in text
    assert "classes_ = tf.argmax(logits, axis=1)" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("def get_optimizer", "@cached\ndef get_optimizer", "`get_optimizer`"),
        ("    if kind ==", "    global RATE\n    if kind ==", "`get_optimizer`"),
        ("    return tf.train.Gr", "    if rate:\n        return tf.train.Gr", "`get_"),
        # The helper's global is a local of the model_fn.
        ("    step = tf.layers", "    RATE = 2.0\n    step = tf.layers", "`get_optim"),
        ("optimizer(kind, decayed)", "optimizer(*given)", "`get_optimizer`"),
        ("return {", "return labels or {", "metrics"),
        ('limit=params["limit"]', "limit=tf.norm(logits)", "depend on `limit"),
    ],
)  # fmt: skip
def test_what_is_not_seen_through_stays(old: str, new: str, reason: str) -> None:
    code = HELPERS.replace(old, new, 1)
    if "RATE = 2.0" in new:
        code = code.replace("(learning_rate)", "(learning_rate * RATE)")
    finding = run(code).findings[0]
    assert finding.tier is Tier.COMPAT
    assert reason in (finding.reason or "")


SHORT = """
import tensorflow as tf


class Net(object):
    def __init__(self, units): self.last = tf.layers.Dense(units)

    def __call__(self, x): return self.last(x)


def model_fn(features, labels, mode):
    logits = Net(3)(features)
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(): return tf.data.Dataset.from_tensors(([[1.0]], [[1.0]])).repeat(5)


estimator = tf.estimator.Estimator(model_fn, "out")
estimator.train(data)
"""


def test_bodies_beside_the_name_are_no_obstacle() -> None:
    result = run(SHORT)
    assert {finding.tier for finding in result.findings} == {Tier.NATIVE}
    assert {finding.line for finding in result.findings} == {21}
    text = result.module.code
    assert "def data():\n    return tf.data" in text
    # What stops it now stands on the line that the author wrote.
    (finding,) = run(SHORT.replace("er(0.1)", "er(*[0.1])")).findings
    assert (finding.tier, finding.line) == (Tier.COMPAT, 21)
