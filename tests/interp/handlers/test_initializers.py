"""Initializers and regularizers: the same values in other words are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons, same

LAYER = "tf.layers.dense(features, 3, {}={})"


def test_they_make_no_variables(tmp_path: Path) -> None:
    found = body(tmp_path, "start = tf.zeros_initializer()")
    assert not made(found)
    assert not reasons(found)


def test_those_that_are_not_known_are_only_themselves(tmp_path: Path) -> None:
    first, second = (
        LAYER.format("kernel_initializer", f"params['{name}']") for name in "ab"
    )
    assert same(tmp_path, first, first)
    assert not same(tmp_path, first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("tf.zeros_initializer()", "'zeros'"),
        ("tf.zeros_initializer()", "tf.keras.initializers.Zeros()"),
        ("tf.ones_initializer", "'ones'"),
        (
            "tf.truncated_normal_initializer(stddev=0.1)",
            "tf.keras.initializers.TruncatedNormal(mean=0.0, stddev=0.1)",
        ),
        (
            "tf.random_normal_initializer()",
            "tf.keras.initializers.RandomNormal(stddev=1.0)",
        ),
        (
            "tf.contrib.layers.xavier_initializer(uniform=False)",
            "tf.keras.initializers.GlorotNormal()",
        ),
        (
            "tf.contrib.layers.variance_scaling_initializer(factor=1.0, mode='FAN_AVG')",
            "tf.keras.initializers.VarianceScaling(1.0, 'fan_avg')",
        ),
        ("tf.constant_initializer(2)", "tf.keras.initializers.Constant(2.0)"),
    ],
)
def test_the_same_first_values(first: str, second: str, tmp_path: Path) -> None:
    code = [LAYER.format("kernel_initializer", one) for one in (first, second)]
    assert same(tmp_path, *code)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("tf.random_normal_initializer()", "tf.keras.initializers.RandomNormal()"),
        ("tf.zeros_initializer()", "tf.ones_initializer()"),
        ("tf.contrib.layers.xavier_initializer()", "tf.keras.initializers.HeNormal()"),
        ("tf.constant_initializer(2)", "tf.constant_initializer(3)"),
    ],
)
def test_other_first_values(first: str, second: str, tmp_path: Path) -> None:
    code = [LAYER.format("kernel_initializer", one) for one in (first, second)]
    assert not same(tmp_path, *code)


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (
            "tf.contrib.layers.l2_regularizer(params['l2'])",
            "tf.keras.regularizers.L2(0.5 * params['l2'])",
            True,
        ),
        (
            "tf.contrib.layers.l2_regularizer(0.1)",
            "tf.keras.regularizers.L2(0.1)",
            False,
        ),
        (
            "tf.contrib.layers.l1_regularizer(0.1)",
            "tf.keras.regularizers.l1(0.1)",
            True,
        ),
        (
            "tf.keras.regularizers.l1_l2(0.1, 0.2)",
            "tf.keras.regularizers.L1L2(l1=0.1, l2=0.2)",
            True,
        ),
        ("tf.keras.regularizers.l1(0.1)", "tf.keras.regularizers.l2(0.1)", False),
    ],
)
def test_penalties(first: str, second: str, alike: bool, tmp_path: Path) -> None:
    code = [LAYER.format("kernel_regularizer", one) for one in (first, second)]
    assert same(tmp_path, *code) is alike
