"""Variables that TF1 shared by their names are one layer of the rewritten model."""

from __future__ import annotations

import pytest
from tfmigrate.plan.program import ModelFnPlan

from .one_module import run

PROGRAM = """\
import tensorflow as tf


def tower(x, units, reuse=False):
    with tf.variable_scope("tower", reuse=reuse):
        net = tf.layers.dense(x, units)
        return tf.layers.dense(net, 3, name="last")


def model_fn(features, labels, mode, params):
    left = tower(features["left"], 8)
    right = tower(features["right"], 8, reuse=True)
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
    (plan,) = result.plans
    assert isinstance(plan.model, ModelFnPlan)
    return result.module.code


def test_a_tower_that_is_called_twice_is_one_layer() -> None:
    text = lifted(PROGRAM)
    assert text.count("Tower(8)") == 1
    assert text.count("self.tower(") == 2
    assert "reuse" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The scope is another one.
        ('"tower", reuse=reuse', "units, reuse=reuse"),
        ("right = tower(", 'with tf.variable_scope("b"):\n        right = tower('),
    ],
)
def test_other_names_are_other_layers(old: str, new: str) -> None:
    code = PROGRAM.replace(old, new)
    if "units, reuse" in new:
        code = code.replace('features["right"], 8', 'features["right"], 9').replace(
            "dense(x, units)", "dense(x, 8)"
        )
    text = lifted(code)
    assert "self.tower_1(" in text


def test_a_name_that_is_made_up_when_it_is_taken_is_another() -> None:
    code = PROGRAM.replace('"tower", reuse=reuse', 'None, "tower"')
    text = lifted(code.replace(", reuse=True", "").replace(", reuse=False", ""))
    assert "self.tower_1(" in text


def test_a_name_that_may_be_made_up_is_not_lifted() -> None:
    code = PROGRAM.replace('"tower", reuse=reuse', 'scope, "tower", reuse=reuse')
    code = code.replace("units, reuse=False", "units, scope=None, reuse=None")
    result = run(code)
    assert "reused beside others" in (result.findings[0].reason or "")


BRANCHES = """\
    if params["wide"]:
        left = tf.layers.dense(features["left"], 4, name="a")
    else:
        left = tf.layers.dense(features["left"], 2, name="a")
    right = """


def test_branches_by_a_parameter_have_layers_of_their_own() -> None:
    old = '    left = tower(features["left"], 8)\n    right = '
    text = lifted(PROGRAM.replace(old, BRANCHES).replace("left * right", "left"))
    assert text.count('name="a"') == 2


def test_branches_of_the_mode_are_two_graphs_over_one_checkpoint() -> None:
    code = PROGRAM.replace(
        '    left = tower(features["left"], 8)\n',
        "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
        '        left = tower(2.0 * features["left"], 8)\n'
        "    else:\n"
        '        left = tower(features["left"], 8)\n',
    )
    text = lifted(code)
    assert text.count("Tower(8)") == 1
    assert text.count("self.tower(") == 3


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('["right"], 8', '["right"], 9', "reused in another layer"),
        ("tf.layers.dense(x, units)", "tf.layers.dense(x, units, reuse=reuse)", None),
        (
            '        return tf.layers.dense(net, 3, name="last")',
            "        return tf.layers.dense(net, 3, reuse=reuse, name=None)",
            "without a name",
        ),
        (
            "logits = tf.layers.dense(left * right, 1)",
            'with tf.variable_scope("tower", reuse=True):\n'
            '        logits = tf.layers.dense(left, 3, name="last")',
            "reused",
        ),
    ],
)
def test_what_is_shared_in_another_way_is_not_lifted(
    old: str, new: str, reason: str | None
) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new))
    told = " ".join(f.reason or "" for f in result.findings)
    assert (reason or "without a name") in told, told or result.module.code


SIZED = """\
def linear(x, units):
    size = x.get_shape()[-1].value
    w = tf.get_variable("w", [size, units])
    return tf.matmul(x, w)


def model_fn"""


def test_a_size_of_the_input_is_known_in_build() -> None:
    code = PROGRAM.replace("def model_fn", SIZED)
    text = lifted(code.replace("tf.layers.dense(left", "linear(left"))
    assert "    def build(self, input_shape):\n" in text
    assert "        size = input_shape[-1]\n" in text
    assert "shape=[size, self.units]" in text
    # The forward pass has no use for it.
    assert ".value" not in text


def test_a_size_of_something_else_is_not() -> None:
    code = PROGRAM.replace("def model_fn", SIZED).replace(
        "    size", "    x = 2 * x\n    size"
    )
    result = run(code.replace("tf.layers.dense(left", "linear(left"))
    assert "depends on `size`" in (result.findings[0].reason or "")
