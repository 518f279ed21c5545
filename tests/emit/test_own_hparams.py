"""HParams of tf.contrib, which a native program gets as a class of its own."""

from __future__ import annotations

from typing import Any

import pytest

from .one_module import run

PROGRAM = """\
import tensorflow as tf

HPARAMS = tf.contrib.training.HParams(
    units=[4, 2], rate=0.5, steps=3, clip=False, kind="relu", act=tf.nn.relu)
USED = None


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features, params.units[0])
    loss = tf.losses.mean_squared_error(labels, net)
    optimizer = tf.train.GradientDescentOptimizer(params.rate)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors((x, y)).repeat(9)


estimator = tf.estimator.Estimator(model_fn, params=HPARAMS)
estimator.train(data, steps=HPARAMS.steps)
"""
ALL = "HPARAMS.parse, HPARAMS.to_json, HPARAMS.values, HPARAMS.get, HPARAMS.add_hparam"


def text_of(code: str) -> str:
    result = run(code)
    assert result.plans
    return result.module.code


@pytest.fixture
def made() -> Any:
    """An object of the class that a program is given."""
    code = text_of(PROGRAM.replace("None", f'{ALL}, "units" in HPARAMS'))
    inside = code[code.index("class HParams") : code.index("HPARAMS =")]
    space: dict[str, Any] = {}
    exec(f"import json, re, types\n\n\n{inside}", space)
    return space["HParams"](
        units=[4, 2], rate=0.5, steps=3, clip=False, kind="relu", act=len
    )


def test_only_what_is_used_is_written() -> None:
    text = text_of(PROGRAM)
    assert "class HParams(types.SimpleNamespace):" in text
    assert "\nHPARAMS = HParams(\n" in text
    assert "contrib" not in text
    for other in ("def parse", "def to_json", "def values", "def get", "import re\n"):
        assert other not in text


# What tf.contrib.training of TensorFlow 1.15.5 makes of the same strings.
@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ("", {}),
        ("steps=5", {"steps": 5}),
        ("rate=1,steps=-2", {"rate": 1.0, "steps": -2}),
        ("units=[8, 16 32],kind=tanh", {"units": [8, 16, 32], "kind": "tanh"}),
        ("clip=true", {"clip": True}),
        ("clip=1, steps =4", {"clip": True, "steps": 4}),
        ("rate=-.5e-2,", {"rate": -0.005}),
    ],
)
def test_a_string_sets_what_it_set(
    made: Any, said: str, changed: dict[str, object]
) -> None:
    before = made.values()
    assert made.parse(said) is made
    assert made.values() == {**before, **changed}
    assert type(made.rate) is float


@pytest.mark.parametrize(
    "said", ["steps", "steps=1.5", "unknown=1", "units=3", "steps=[1]", "steps=x"]
)
def test_a_string_that_says_nothing_known_is_refused(made: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"set|literal|list"):
        made.parse(said)


def test_the_other_methods(made: Any) -> None:
    assert made.to_json(sort_keys=True).startswith('{"clip": false, "kind": "relu"')
    assert made.get("rate") == 0.5
    assert made.get("none", 7) == 7
    assert "units" in made
    made.add_hparam("more", 1)
    assert made.more == 1
    with pytest.raises(ValueError, match="already"):
        made.add_hparam("more", 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("USED = None", "HPARAMS.set_hparam('rate', 1)"),
        ("USED = None", "USED = isinstance(HPARAMS, tf.contrib.training.HParams)"),
        ("HParams(\n", "HParams(None, "),
    ],
)
def test_what_is_not_understood_keeps_its_name(old: str, new: str) -> None:
    text = text_of(PROGRAM.replace(old, new))
    assert "class HParams" not in text
    assert "tf.contrib.training.HParams(" in text
