"""Statements of a method, made shorter without another meaning."""

from __future__ import annotations

import pytest
from tfmigrate.rewrite.native.tidy import read_by_name, shared


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
