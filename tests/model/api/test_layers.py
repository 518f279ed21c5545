"""Functions and classes of tf.layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons, same

LAYER = "tf.layers.dense(features, 3, {}={})"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("tf.feature_column.linear_model(features, **params)", "not written out"),
        ("tf.layers.Dense(features)", "a layer depends on `features`"),
        ("tf.layers.Layer()", "`tf.layers.Layer` cannot be lifted yet"),
    ],
)
def test_what_is_kept(code: str, reason: str, tmp_path: Path) -> None:
    assert reason in reasons(body(tmp_path, code))[0]


def test_columns_are_descriptions(tmp_path: Path) -> None:
    found = body(tmp_path, "tf.feature_column.numeric_column('x')")
    assert not made(found)
    assert not reasons(found)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("tf.layers.conv2d(features, 8, 3, padding='same')", "Conv2D(8, 3, 'same')"),
        ("tf.layers.max_pooling2d(features, 2, 2)", "MaxPooling2D(2, 2)"),
        (
            "tf.layers.batch_normalization(features, momentum=0.9)",
            "BatchNormalization(0.9)",
        ),
        ("tf.feature_column.input_layer(features, [])", "DenseFeatures(?)"),
        (
            "tf.feature_column.linear_model(features, [])",
            "feature_column.linear_model(?, ?)",
        ),
        ("tf.layers.dense(features, **{'units': 2, 'name': 'a'})", "Dense('a', 2)"),
        ("tf.layers.dense(features, features.shape[-1])", "Dense(?)"),
        ("tf.layers.dense(features, 3, **params)", "Dense(?, 3)"),
        ("tf.layers.Dense(3)(features)", "Dense(3)"),
    ],
)
def test_what_makes_variables(code: str, expected: str, tmp_path: Path) -> None:
    found = body(tmp_path, f"net = {code}")
    assert not reasons(found)
    assert made(found) == [expected]


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("tf.layers.dense(features, 3)", "tf.layers.Dense(3)(features)", True),
        (
            "tf.layers.dense(features, 3)",
            "tf.layers.dense(units=3, inputs=features)",
            True,
        ),
        ("tf.layers.dense(features, 3)", "tf.layers.dense(features, 3, None)", True),
        ("tf.layers.dense(features, 3)", "tf.layers.dense(features, 3, tf.sin)", False),
        (
            "tf.layers.dropout(features, 0.5)",
            "tf.layers.dropout(features, 0.5, training=True)",
            False,
        ),
        (
            "one = tf.layers.Dense(3)\nnet = one(features) + one(features)",
            "net = tf.layers.Dense(3)(features) + tf.layers.Dense(3)(features)",
            False,
        ),
    ],
)
def test_the_same_layers(first: str, second: str, alike: bool, tmp_path: Path) -> None:
    assert same(tmp_path, first, second) is alike


def test_initializers_make_no_variables(tmp_path: Path) -> None:
    found = body(tmp_path, "start = tf.zeros_initializer()")
    assert not made(found)
    assert not reasons(found)


def test_initializers_that_are_not_known_are_only_themselves(tmp_path: Path) -> None:
    first, second = (
        LAYER.format("kernel_initializer", f"params['{name}']") for name in "ab"
    )
    assert same(tmp_path, first, first)
    assert not same(tmp_path, first, second)


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
