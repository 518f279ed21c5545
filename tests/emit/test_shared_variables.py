"""Variables by their names: what a loop in place has layers for."""

from __future__ import annotations

import pytest
from tfmigrate.plan.program import ModelFnPlan

from .one_module import run

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    with tf.variable_scope("tower"):
        left = tf.layers.dense(features["left"], 8, name="last")
    with tf.variable_scope("other"):
        right = tf.layers.dense(features["right"], 8, name="last")
    logits = tf.layers.dense(left * right, 1)
    loss = tf.losses.mean_squared_error(labels, logits)
    optimizer = tf.train.AdamOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors((x, y)).repeat(9)


estimator = tf.estimator.Estimator(model_fn, params={})
estimator.train(data, steps=3)
"""


def lifted(code: str) -> str:
    """The program with a loop around layers."""
    result = run(code)
    assert result.plans, result.findings
    (plan,) = result.plans
    assert isinstance(plan.model, ModelFnPlan)
    return result.module.code


def test_other_names_are_other_layers() -> None:
    text = lifted(PROGRAM)
    assert text.count('name="last"') == 2


BRANCHES = """\
    if params["wide"]:
        left = tf.layers.dense(features["left"], 4, name="a")
    else:
        left = tf.layers.dense(features["left"], 2, name="a")
    logits = tf.layers.dense(left, 1)
"""


def test_branches_by_a_parameter_have_layers_of_their_own() -> None:
    begin, end = PROGRAM.index("    with"), PROGRAM.index("    loss =")
    text = lifted(PROGRAM[:begin] + BRANCHES + PROGRAM[end:])
    assert text.count('name="a"') == 2


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"other"', '"tower", reuse=True', "variable_scope(`reuse`=)"),
        (
            'features["right"], 8',
            'features["right"], 8, reuse=True',
            "a layer that is reused",
        ),
        (
            "tf.layers.dense(left * right, 1)",
            'left * right * tf.get_variable("scale", [8])',
            "makes variables by their names",
        ),
        (
            "left * right, 1",
            "left * right, 1, kernel_regularizer=tf.keras.regularizers.l2(0.1)",
            "regularizers",
        ),
    ],
)
def test_what_goes_by_names_is_for_the_loop_module(
    old: str, new: str, reason: str
) -> None:
    assert old in PROGRAM
    (finding,) = run(PROGRAM.replace(old, new)).findings
    assert reason in (finding.reason or "")


def test_a_function_that_makes_layers_is_for_the_loop_module() -> None:
    helper = "def last(x):\n    return tf.layers.dense(x, 1)\n\n\ndef model_fn"
    code = PROGRAM.replace("def model_fn", helper)
    code = code.replace("tf.layers.dense(left * right, 1)", "last(left * right)")
    (finding,) = run(code).findings
    assert "`last` makes layers for the model_fn" in (finding.reason or "")
