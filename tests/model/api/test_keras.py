"""What is of Keras already."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons, same


@pytest.mark.parametrize(
    "code",
    [
        "loss = tf.keras.losses.mean_squared_error(labels, features)",
        "net = tf.keras.backend.relu(features)",
        "net = tf.keras.layers.concatenate([features, features])",
    ],
)
def test_what_has_no_weights(code: str, tmp_path: Path) -> None:
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)
    assert not found.notes.keras


def test_a_model_of_keras_has_layers_already(tmp_path: Path) -> None:
    code = "net = tf.keras.Sequential([tf.keras.layers.Dense(3)])(features)"
    found = body(tmp_path, code)
    assert not reasons(found)
    assert found.notes.keras
    assert not found.notes.made


def test_a_layer_of_keras_is_made_like_others(tmp_path: Path) -> None:
    found = body(tmp_path, "net = tf.keras.layers.Dense(3)(features)")
    assert not reasons(found)
    assert [one.kind for one in found.notes.made.values()] == ["object"]


def test_a_name_that_looks_counted_is_one(tmp_path: Path) -> None:
    code = (
        "class Part(tf.estimator.ScopedLayer):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.one = {}\n"
        "    def call(self, x):\n"
        "        return self.one(x)\n"
        "net = Part()(features)"
    )
    dense = "tf.keras.layers.Dense(3, name='dense_1')"
    legacy = "tf.layers.dense(features, 3, name='dense_1')"
    other = "tf.layers.dense(features, 3, name='dense_2')"
    assert same(tmp_path, legacy, code.format(dense))
    assert not same(tmp_path, other, code.format(dense))
