"""Heads."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons


def test_a_head_that_is_not_known_may_make_variables(tmp_path: Path) -> None:
    code = "head = tf.contrib.new_estimator.new_head(features)"
    (why,) = reasons(body(tmp_path, code))
    assert "may make variables" in why


@pytest.mark.parametrize(
    "head",
    ["tf.contrib.estimator.multi_class_head(3)", "tf.estimator.RegressionHead()"],
)
def test_a_head_makes_no_variables(head: str, tmp_path: Path) -> None:
    code = f"head = {head}\nspec = head.create_estimator_spec(features, mode, labels)"
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)
