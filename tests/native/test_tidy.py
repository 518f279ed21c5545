"""Statements of a method, made shorter without another meaning."""

from __future__ import annotations

import pytest
from tfmigrate.rewrite.native.layers import rate_of
from tfmigrate.rewrite.native.plain_names import with_plain_names
from tfmigrate.rewrite.native.text import with_lines_fitted
from tfmigrate.rewrite.native.tidy import (
    folded,
    read_by_name,
    returning,
    shared,
    with_casts,
    without_aliases,
)


@pytest.mark.parametrize(
    ("lines", "then"),
    [
        (["p = tf.sigmoid(x)", "f(tf.sigmoid(x))"], ["p = tf.sigmoid(x)", "f(p)"]),
        # Drawn twice, given twice, of another x, in a loop that changes x.
        (["a = tf.random.normal([3])", "b = tf.random.normal([3])"], None),
        (["a = helper(x)", "b = helper(x)"], None),
        (["x = tf.sigmoid(x)", "y = tf.sigmoid(x)"], None),
        (["p = tf.sigmoid(x)", "x = y", "z = tf.sigmoid(x)"], None),
        (["p = tf.sigmoid(x)", "for i in n:\n    x = tf.sigmoid(x)"], None),
    ],
)
def test_values_are_read_by_their_names(
    lines: list[str], then: list[str] | None
) -> None:
    found, _ = read_by_name([f"{line}\n" for line in lines], None)
    assert [one.rstrip() for one in found] == (then or lines)


def test_what_a_method_makes_to_call_it_is_made_once() -> None:
    made = ["rate = Decay(params.rate, 10)\n", "self.optimizer = Adam(rate)\n"]
    loss = ["rate = Decay(self.params.rate, 10)(step)\n"]
    assert shared(made, [loss], ()) == [
        "self.rate = Decay(params.rate, 10)\n",
        "self.optimizer = Adam(self.rate)\n",
    ]
    assert loss == ["rate = self.rate(step)\n"]
    other = ["rate = Decay(self.params.other, 10)(step)\n"]
    assert shared(made, [other], ()) == made
    assert shared(made, [loss], ("rate",)) == made


@pytest.mark.parametrize(
    ("code", "then"),
    [
        ("sr = clip(x, 'sr') if None else out\n", "sr = out\n"),
        ("if True and x.n > 0 and y:\n    pass\n", "if x.n > 0 and y:\n    pass\n"),
        ("a = False and b\n", "a = False\n"),
        ("a = None or b\n", "a = b\n"),
        ("a = [f(x) for i, x in enumerate(y)]\n", "a = [f(x) for x in y]\n"),
        (
            "a = [f(x, y) for i, (x, y) in enumerate([(1, 2)])]\n",
            "a = [f(x, y) for x, y in [(1, 2)]]\n",
        ),
        ("a = [f(i, x) for i, x in enumerate(y)]\n", None),
        ("a = [f(x) for i, x in enumerate(y, 1)]\n", None),
        ("a = x if y else z\n", None),
        ("# alone\n", None),
    ],
)
def test_what_a_constant_decides(code: str, then: str | None) -> None:
    assert folded(code) == (then or code)


def test_second_names_go_and_keys_of_their_name_stay() -> None:
    lines = ["sr = out\n", "f('sr', sr, sr=sr)\n"]
    assert without_aliases(lines, "{'sr': sr}") == (
        ["f('sr', out, sr=out)\n"],
        "{'sr': out}",
    )
    shown = ["sr = out\n", "print(f'{sr}')\n"]
    assert without_aliases(shown, None) == (shown, None)


def test_further_lines_of_what_is_returned_stay_below_it() -> None:
    told = "predictions = {'a': x,\n               'b': y}\n"
    assert returning([told], "predictions")[1] == "{'a': x,\n        'b': y}"
    held = "out = f(\n    x)\n"
    assert returning([held], "out")[1] == "f(\n    x)"


def test_a_share_that_is_kept_of_one_that_is_dropped() -> None:
    assert rate_of("1 - params['dropout']") == "params['dropout']"
    assert rate_of("1.0 - (a + b)") == "a + b"
    assert rate_of("keep - 1") == "1 - (keep - 1)"
    assert rate_of("0.9") == "0.1"


def test_casts_of_today() -> None:
    then = "f(tf.cast(x[0], tf.float32)) - tf.cast((y), tf.int64)"
    assert with_casts("f(tf.to_float(x[0])) - tf.to_int64((y))") == then


@pytest.mark.parametrize(
    ("body", "then"),
    [
        ("out_2 = f(x)\nreturn out_2\n", "out = f(x)\nreturn out\n"),
        ("x_2 = f(y)\nx = x_2\nreturn x\n", "x = f(y)\nreturn x\n"),
        # The other one is read, the author wrote it, or it is in a text.
        ("out_2 = f(out)\nreturn out_2\n", None),
        ("own_2 = f(x)\nreturn own_2\n", None),
        ("a_2 = f(x)\nreturn f'{a_2}'\n", None),
        ("x_2 = f(y)\nx = x_2\nreturn x + x_2\n", None),
        ("x = 1\nx_2 = f(x)\nx = x_2\nreturn x\n", None),
    ],
)
def test_names_need_no_number(body: str, then: str | None) -> None:
    def method(lines: str) -> str:
        shown = "".join(f"        {line}\n" for line in lines.splitlines())
        return f"class A:\n    def call(self, y):\n{shown}"

    assert with_plain_names(method(body), {"own_2"}) == method(then or body)


def test_statements_of_several_lines_are_laid_out_anew() -> None:
    long = "tf.nn.l2_loss(" + "v" * 60 + ")"
    code = f"l2 = hparams.l2 * tf.add_n([{long} for v in w\n            if v])\n"
    then = f"l2 = hparams.l2 * tf.add_n([\n    {long}\n    for v in w\n    if v\n])\n"
    assert with_lines_fitted(code, 0, 4) == then
    known = {line.strip() for line in code.splitlines()}
    assert with_lines_fitted(code, 0, 4, known) == code
