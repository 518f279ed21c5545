"""session_config: reported, and gone where nothing else reads it."""

from __future__ import annotations

import pytest

from .one_module import run

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, net)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors((x, y)).repeat(9)


growth = tf.ConfigProto(allow_soft_placement=True)
growth.gpu_options.allow_growth = True
config = tf.estimator.RunConfig(SETTINGS)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(data, steps=3)
"""


def test_settings_that_are_not_given_stay() -> None:
    result = run(PROGRAM.replace("SETTINGS", ""))
    assert "growth.gpu_options.allow_growth = True" in result.module.code
    assert "TFM145" not in {finding.rule for finding in result.findings}


@pytest.mark.parametrize(
    "settings",
    ["session_config=growth", "model_dir='m').replace(session_config=growth"],
)
def test_settings_of_the_run_config_go_and_are_named(settings: str) -> None:
    result = run(PROGRAM.replace("SETTINGS", settings))
    assert "growth" not in result.module.code
    (finding,) = [f for f in result.findings if f.rule == "TFM145"]
    assert finding.line == PROGRAM[: PROGRAM.index("config = tf.est")].count("\n") + 1
    assert "session_config" in finding.message


def test_settings_with_another_use_stay() -> None:
    code = PROGRAM.replace("SETTINGS", "session_config=growth") + "print(growth)\n"
    result = run(code)
    assert "growth.gpu_options.allow_growth = True" in result.module.code
    assert "TFM145" in {finding.rule for finding in result.findings}
