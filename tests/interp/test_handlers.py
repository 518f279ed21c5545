"""Handlers of calls, and the page that shows how to add one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tfmigrate.interp import handlers

from .evaluating import body, evaluate, made, reasons

PAGE = Path(__file__).parents[2] / "docs" / "interpretation.md"
PROGRAM = (
    "import house_operations\n\n\ndef model_fn(features, labels, mode):\n"
    "    return house_operations.norm(features{})\n"
)


def test_the_nearest_name_wins() -> None:
    assert handlers.find("numpy.mean") is None
    assert handlers.find("tf.layers.dense") is not handlers.find("tf.layers.Input")
    assert handlers.find("tf.new.thing") is handlers.find("tf.other")


def test_the_example_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reasons(evaluate(tmp_path, PROGRAM.format("")))
    assert before == ["`house_operations.norm` may make variables"]
    monkeypatch.setattr(handlers, "_folders", dict(handlers._folders))
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(example, {})
    assert not reasons(evaluate(tmp_path, PROGRAM.format("")))
    left = reasons(evaluate(tmp_path, PROGRAM.format(", variables=1")))
    assert left == ["an operation of the house with variables"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("tf.feature_column.linear_model(features, **params)", "not written out"),
        ("tf.layers.Dense(features)", "a layer depends on `features`"),
        ("tf.contrib.layers.new_layer(features, 3)", "may make variables"),
        ("tf.get_variable('v', **params)", "not written out"),
        ("tf.cond(labels, lambda: tf.get_variable('v', []))", "that `tf.cond` calls"),
        (
            "with tf.variable_scope('a', partitioner=params):\n    pass",
            "variable_scope with `partitioner=`",
        ),
    ],
)
def test_what_is_kept(code: str, reason: str, tmp_path: Path) -> None:
    assert reason in reasons(body(tmp_path, code))[0]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("tf.layers.conv2d(features, 8, 3, padding='same')", "Conv2D(8, 3, 'same')"),
        ("tf.layers.max_pooling2d(features, 2, 2)", "MaxPooling2D(2, 2)"),
        ("tf.layers.batch_normalization(features, momentum=0.9)", "(0.9)"),
        ("tf.feature_column.input_layer(features, [])", "ColumnsLayer()"),
        ("tf.get_variable('v', [2])", "variable('v')"),
        ("tf.Variable(features, name='v')", "new variable('v')"),
        ("tf.feature_column.linear_model(features, [])", "linear_model()"),
        ("tf.layers.dense(features, **{'units': 2, 'name': 'a'})", "Dense('a', 2)"),
        ("(lambda x: tf.layers.dense(x, 1))(features)", "Dense(1)"),
        ("tf.layers.dense(features, features.shape[-1])", "Dense(?)"),
        ("tf.layers.dense(features, 3, **params)", "Dense(3)"),
        ("functools.partial(tf.layers.dense, units=3)(features)", "Dense(3)"),
        ("tf.layers.Dense(3)(features)", "Dense(3)"),
        ("tf.contrib.rnn.LSTMCell(3)(features)", "tf.contrib.rnn.LSTMCell()"),
        (
            "tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), features)",
            "nn.dynamic_rnn(?, ?)",
        ),
        (
            "tf.contrib.slim.conv2d(features, 8, [3, 3], scope='a')",
            "contrib.slim.conv2d(?, 8, (3, 3), 'a')",
        ),
    ],
)
def test_what_makes_variables(code: str, expected: str, tmp_path: Path) -> None:
    found = body(tmp_path, f"net = {code}")
    (one,) = made(found)
    assert not reasons(found)
    assert expected in one or sorted(expected) == sorted(one)


def test_keras_has_layers_already(tmp_path: Path) -> None:
    found = body(tmp_path, "net = tf.keras.layers.Dense(3)(features)")
    assert not reasons(found)
    assert found.notes.keras
    assert not found.notes.made
