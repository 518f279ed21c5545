"""Variables, and the scopes that they are made in."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("tf.get_variable('v', **params)", "not written out"),
        ("tf.Variable(*params)", "not written out"),
        (
            "with tf.variable_scope('a', partitioner=params):\n    pass",
            "variable_scope with `partitioner=`",
        ),
    ],
)
def test_what_is_kept(code: str, reason: str, tmp_path: Path) -> None:
    assert reason in reasons(body(tmp_path, code))[0]


@pytest.mark.parametrize(
    "code",
    [
        "count = tf.Variable(0, trainable=False)",
        "with tf.name_scope('a'):\n    pass",
        "scope = tf.get_variable_scope()",
    ],
)
def test_what_makes_no_weights(code: str, tmp_path: Path) -> None:
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("tf.get_variable('v', [2])", "get_variable('v', ?)"),
        ("tf.Variable(features, name='v')", "Variable(?, 'v')"),
    ],
)
def test_what_makes_variables(code: str, expected: str, tmp_path: Path) -> None:
    found = body(tmp_path, f"net = {code}")
    assert not reasons(found)
    assert made(found) == [expected]


def test_scopes_that_say_how_variables_begin(tmp_path: Path) -> None:
    code = "with tf.variable_scope('a', initializer=params['i'], regularizer=params['r']):\n    pass"
    notes = body(tmp_path, code).notes
    assert notes.regularized
