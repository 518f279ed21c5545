"""`tf.where` stays where TensorFlow 2's function gives the same."""

from __future__ import annotations

import libcst as cst
import pytest
from tfmigrate.names.resolver import Resolver
from tfmigrate.rules.engine import run_rules

IMPORT = "import tensorflow as tf\n\n"


def rewritten(code: str) -> str:
    module = cst.parse_module(IMPORT + code)
    return run_rules(IMPORT + code, module, Resolver(module)).text.removeprefix(IMPORT)


@pytest.mark.parametrize(
    "call",
    [
        "tf.where(tf.not_equal(x, -1))",
        "tf.where(x < 1.0 / s, 0.5 * s * tf.square(x), y)",
        "tf.where(x.a[0] > 0, -x.a[0], y)",
        "tf.where(tf.math.is_nan(x), tf.zeros_like(x), x)",
    ],
)
def test_a_condition_of_the_shape_of_its_values(call: str) -> None:
    assert rewritten(f"z = {call}\n") == f"z = {call}\n"


@pytest.mark.parametrize(
    "call",
    [
        "tf.where(valid, x, y)",
        "tf.where(x > 0, x * y, z)",  # y may have more dimensions
        "tf.where(tf.reduce_sum(x, 1) > 0, x, y)",
        "tf.where(tf.equal(*x), x, y)",
        "tf.where(x, x=x, y=y)",
        "tf.where(*x)",
    ],
)
def test_a_condition_that_may_choose_rows(call: str) -> None:
    assert rewritten(f"z = {call}\n") == f"z = {call}\n".replace(
        "tf.w", "tf.compat.v1.w"
    )
