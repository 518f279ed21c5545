"""The flag of training is told by calls, and called as Keras calls it."""

from __future__ import annotations

import pytest

from .test_scopes import lifted

BLOCK = (
    "def block(x, is_training):\n    x = slim.conv2d(x, 4, 3)\n"
    "    {}\n    return slim.dropout(x, 0.5, is_training=is_training)\n\n\n"
)


@pytest.mark.parametrize("given", ["True", "is_training=True"])
def test_a_function_that_a_constant_tells(given: str) -> None:
    found = lifted(f"net = block(net, {given})\n", BLOCK.format("pass"))
    assert "def call(self, x, training):" in found
    assert "self.dropout(x, is_training=training)" in found
    assert "self.block(net, training=True)" in found
    assert "self.block = Block()" in found


def test_what_the_constructor_reads_too_is_its_own() -> None:
    line = "x = tf.layers.dense(x, 3 if is_training else 3)"
    found = lifted("net = block(net, True)\n", BLOCK.format(line))
    assert "self.dropout(x, is_training=self.is_training)" in found


def test_a_dictionary_for_what_normalizes() -> None:
    line = "bn = dict(is_training=is_training); x = slim.conv2d(x, 4, 3, 1, 'SAME', bn)"
    found = lifted("net = block(net, True)\n", BLOCK.format(line))
    assert "bn = dict(is_training=training)" in found
    line = line.replace(
        "1, 'SAME', bn", "normalizer_params={'is_training': is_training}"
    )
    found = lifted("net = block(net, True)\n", BLOCK.format(line))
    assert "(x, normalizer_params={'is_training': training})" in found


def test_a_layer_without_weights_is_one_in_all_rounds() -> None:
    found = lifted(
        "for n in [4, 3]:\n    net = slim.fully_connected(net, n)\n"
        "    net = slim.dropout(net, 0.5, scope='drop%d' % n)\n"
        "    net = slim.dropout(net, 0.5, scope='same')\n"
        "parts = [slim.flatten(one) for one in tf.split(net, 2)]\n"
        "net = tf.concat(parts, 1)\n"
    )
    assert "self.same = tf.estimator.FunctionLayer(slim.dropout," in found
    assert "net = self.same(net" in found
    assert "self.drop_layers.append(" in found
    assert "[self.flatten(one) for one in tf.split(net, 2)]" in found


def test_the_share_that_is_dropped_is_said() -> None:
    assert "tf.keras.layers.Dropout(rate=0.5)" in lifted(
        "net = tf.layers.dropout(net)\n"
    )
