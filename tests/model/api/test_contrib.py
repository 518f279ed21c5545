"""Functions of contrib.layers and slim."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons


@pytest.mark.parametrize(
    "code", ["tf.contrib.layers.new_layer(features, 3)", "tf.contrib.slim.other(1)"]
)
def test_what_is_not_known_may_make_variables(code: str, tmp_path: Path) -> None:
    (why,) = reasons(body(tmp_path, code))
    assert "may make variables" in why


@pytest.mark.parametrize(
    "code",
    [
        "net = tf.contrib.layers.elu(features)",
        "net = tf.contrib.slim.unit_norm(features, 1)",
        "columns = tf.contrib.layers.real_valued_column('x')",
        "loss = tf.contrib.slim.l1_l2_regularizer(0.1)(features)",
        "step = tf.contrib.framework.get_global_step()",
        "ends = tf.contrib.slim.utils.convert_collection_to_dict('ends')",
        "with tf.contrib.slim.arg_scope([tf.contrib.slim.conv2d], stride=2):\n    pass",
    ],
)
def test_what_makes_no_variables(code: str, tmp_path: Path) -> None:
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)


def test_layers_are_told_with_their_arguments(tmp_path: Path) -> None:
    code = "tf.contrib.slim.conv2d(features, 8, [3, 3], scope='a')"
    assert made(body(tmp_path, code)) == [
        "contrib.slim.conv2d(?, 8, ?, 'a')",
    ]


def test_regularizers_are_noted(tmp_path: Path) -> None:
    code = "tf.contrib.layers.fully_connected(features, 3, weights_regularizer={})"
    assert not body(tmp_path, code.format("None")).notes.regularized
    assert body(tmp_path, code.format("params['r']")).notes.regularized


def test_what_a_scope_gives_is_called_by_its_layers(tmp_path: Path) -> None:
    code = (
        "def norm(x):\n    return tf.layers.batch_normalization(x)\n"
        "with tf.contrib.slim.arg_scope([tf.contrib.slim.conv2d], normalizer_fn=norm):\n"
        "    net = tf.contrib.slim.conv2d(features, 3, 2)"
    )
    found = body(tmp_path, code)
    assert not reasons(found)
    (norm,) = found.notes.handed
    assert not found.notes.makes(norm)
    called = body(tmp_path, f"{code}\nnorm(net)")
    assert not called.notes.handed
    (makes,) = (one for found in called.notes.helpers.values() for one in found)
    assert called.notes.makes(makes.node)
