"""Python's own functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import HEAD, body, evaluate, made, reasons, same


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("one = functools.partial(*params)", "arguments are not written out"),
        (
            "nets = list(map(functools.partial(tf.layers.dense, units=1), [features]))",
            "layers made by `map`",
        ),
    ],
)
def test_what_is_kept(code: str, reason: str, tmp_path: Path) -> None:
    assert reason in reasons(body(tmp_path, code))[0]


@pytest.mark.parametrize(
    "code",
    [
        "print(features)",
        "count = len(params) if isinstance(features, dict) else 0",
        "first = next(iter(features))",
    ],
)
def test_what_makes_no_variables(code: str, tmp_path: Path) -> None:
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("functools.partial(tf.layers.dense, units=3)(features)", "Dense(3)"),
        ("(lambda x: tf.layers.dense(x, 1))(features)", "Dense(1)"),
    ],
)
def test_functions_are_called(code: str, expected: str, tmp_path: Path) -> None:
    assert made(body(tmp_path, f"net = {code}")) == [expected]


@pytest.mark.parametrize("source", ["", "from six.moves import range\n"])
def test_another_name_for_a_function_of_python(source: str, tmp_path: Path) -> None:
    code = (
        "try:\n    xrange\nexcept NameError:\n    xrange = range\n\n\n"
        "def model_fn(features, labels, mode, params):\n"
        "    for size in xrange(3):\n"
        "        features = tf.layers.dense(features, 4)\n"
    )
    found = evaluate(tmp_path, HEAD + source + code)
    assert made(found)
    assert not reasons(found)


def test_elements_are_those_of_what_is_gone_through(tmp_path: Path) -> None:
    loop = "for i, one in enumerate(params['{}']):\n    tf.layers.dense(features, one)"
    first, second = loop.format("a"), loop.format("b")
    zipped = "for i, one in zip(params['a'], params['a']):\n    tf.layers.dense(features, {})"
    assert not same(tmp_path, first, second)
    assert same(tmp_path, zipped.format("i"), zipped.format("one"))
    assert not same(tmp_path, first, first.replace(", one)", ", i)"))
