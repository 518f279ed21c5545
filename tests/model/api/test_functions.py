"""Functions and cells that make their variables themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons, same


def test_a_state_is_tensors(tmp_path: Path) -> None:
    code = "state = tf.nn.rnn_cell.LSTMStateTuple(features, features)"
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)


def test_an_unknown_cell_is_not_understood(tmp_path: Path) -> None:
    (why,) = reasons(body(tmp_path, "cell = tf.contrib.rnn.NewCell(3)"))
    assert "`tf.contrib.rnn.NewCell` may make variables" in why


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("tf.contrib.rnn.LSTMCell(3)(features)", "call(?, ?)"),
        (
            "tf.contrib.rnn.TimeReversedFusedRNN(\n"
            "    tf.contrib.rnn.LSTMBlockFusedCell(3))(features)",
            "call(?, ?)",
        ),
        (
            "tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), features)",
            "nn.dynamic_rnn(?, ?)",
        ),
        (
            "tf.contrib.seq2seq.BahdanauAttention(3, features)",
            "contrib.seq2seq.BahdanauAttention(3, ?)",
        ),
    ],
)
def test_what_makes_variables(code: str, expected: str, tmp_path: Path) -> None:
    found = body(tmp_path, f"net = {code}")
    assert not reasons(found)
    assert made(found) == [expected]


def test_a_template_is_the_function_that_it_shares(tmp_path: Path) -> None:
    code = (
        "def net(x, units):\n    return tf.layers.dense(x, units)\n"
        "shared = tf.make_template('shared', net, units=3)\n"
        "both = shared(features), shared(labels)"
    )
    found = body(tmp_path, code)
    assert not reasons(found)
    assert made(found) == ["Dense(3)"] * 2
    other = body(tmp_path, "shared = tf.make_template('shared', params['net'])")
    assert "a template of what is not a function" in reasons(other)[0]


def test_a_function_layer_is_the_function(tmp_path: Path) -> None:
    layer = "tf.estimator.FunctionLayer(tf.contrib.slim.conv2d, 8, 3)(features)"
    assert same(tmp_path, layer, "tf.contrib.slim.conv2d(features, 8, 3)")
    assert not same(tmp_path, layer, "tf.contrib.slim.conv2d(features, 8, 5)")
