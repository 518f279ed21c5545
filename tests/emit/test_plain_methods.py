"""model_fns that are methods: what they read of their object must be known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

HELD = (Path(__file__).parent / "model_fns" / "held_methods.py").read_text("utf-8")


def test_an_object_that_holds_its_estimator_holds_a_loop() -> None:
    result = run(HELD)
    text = result.module.code
    line = HELD[: HELD.index("self.est =")].count("\n") + 1
    assert {finding.line for finding in result.findings} == {line}
    assert {finding.tier for finding in result.findings} == {Tier.NATIVE}
    # What the object is for stays; what only the model_fn was for does not.
    assert "self.est = Trainer(words, units, rate, WIDTH=self.WIDTH" in text
    assert "    WIDTH = 8\n" in text
    assert "def network(" not in text
    assert "----- its use" in text


OBJECT = """\
import tensorflow as tf


class Model(object):
    \"\"\"A line through points.\"\"\"

    def __init__(self, units, rate=0.1):
        self.units = units
        self._rate = rate

    def fn(self, features, labels, mode):
        net = tf.layers.dense(features, self.units)
        net = tf.layers.dense(net, 1)
        loss = tf.losses.mean_squared_error(labels, net)
        optimizer = tf.train.GradientDescentOptimizer(self._rate)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors((x, y)).repeat(9)


model = Model(4)
estimator = tf.estimator.Estimator(model.fn)
estimator.train(data, steps=3)
"""


def test_a_class_for_a_model_fn_alone_becomes_the_model() -> None:
    text = run(OBJECT).module.code
    assert text.count("class ") == 1
    assert "class Model(tf_keras.Model):" in text
    assert '"""A line through points."""' in text
    assert "Model(4)" not in text
    assert "units = 4\n" in text
    assert "rate = 0.1\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("units):\n", "units):\n        self.log = []\n"),
        ("model.fn)", "model.fn)\nprint(model.units)"),
    ],
    ids=["its own work", "used elsewhere"],
)
def test_a_class_with_other_uses_stays(old: str, new: str) -> None:
    code = OBJECT.replace("units, rate=0.1):\n", "units):\n        rate = 0.1\n")
    text = run(code.replace(old, new)).module.code
    assert "def __init__(self, units):" in text
    assert "units = model.units\n" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("model.fn)", "model.fn)\nmodel.units = 5", "not set just once"),
        ("model.fn)", "model.fn)\nsetattr(model, 'units', 5)", "may change"),
        ("        net =", "        self.calls = 1\n        net =", "is not set"),
        ("        net =", "        log(self)\n        net =", "passes its object"),
        ("class Model(object)", "class Model(Base)", "set here"),
        ("model = Model", "class Deep(Model):\n    pass\n\n\nmodel = Model", "derives"),
        ("model.fn)", "model.fn)\nmodel.fn(x, y, 'train')", "used elsewhere"),
        ("    def fn", "    @wrapped\n    def fn", "is decorated"),
        ("= units\n", "= units\n        if units:\n            self.units = 3\n",
         "not set just once"),
    ],
)  # fmt: skip
def test_values_that_may_change_are_not_taken(old: str, new: str, reason: str) -> None:
    code = OBJECT.replace(old, new, 1)
    if old.startswith("class"):
        code = code.replace("        self.units = units\n", "")
    (finding,) = run(code).findings
    assert finding.tier is Tier.COMPAT
    assert finding.reason is not None
    assert reason in finding.reason


def test_an_input_function_may_be_given_to_the_method_that_trains() -> None:
    for call in (".fit(unknown, 8)", ".fit(*settings)", ""):
        (finding,) = run(HELD.replace(".fit(data, 8)", call)).findings
        assert finding.tier is Tier.COMPAT
        assert "input function" in (finding.reason or "")
