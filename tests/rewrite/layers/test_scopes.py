"""What scopes say of the calls within is said by these, or refused."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from tfmigrate.code.blocked import Blocked
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.layers.together import lifted_together

HEAD = "import tensorflow as tf\n\nslim = tf.contrib.slim\n\n\n"
TAIL = """\
    loss = tf.losses.mean_squared_error(labels, net)
    return tf.estimator.EstimatorSpec(mode, loss=loss)
"""


def lifted(network: str, helpers: str = "") -> str:
    """A program whose model function makes a network, on one line."""
    facts = ProjectFacts()
    code = f"{HEAD}{helpers}def model_fn(features, labels, mode, params):\n"
    code += indent("net = features\n" + network, "    ") + TAIL
    parsed = facts.load(Path("program.py"), code.encode())
    (found,) = lifted_together([parsed], facts)
    return " ".join(found.source.text.split())


def test_how_weights_begin() -> None:
    found = lifted(
        "with tf.variable_scope('a', None, None, tf.zeros_initializer()):\n"
        "    with tf.variable_scope('b', initializer=tf.ones_initializer()):\n"
        "        net = tf.layers.dense(net, 3, bias_initializer=None)\n"
        "    net *= tf.get_variable('w', [3], initializer=None)\n"
        "    net = tf.layers.flatten(net)\n"
        "    net += slim.embed_sequence(params['ids'], 9, 3)\n"
    )
    assert "Dense(3, kernel_initializer=tf.ones_initializer())" in found
    assert "slim.embed_sequence, 9, 3, initializer=tf.zeros_initializer())" in found
    assert "self.get_variable('w', [3], initializer=tf.zeros_initializer())" in found


def test_penalties_of_weights() -> None:
    found = lifted(
        "with tf.variable_scope('a', regularizer=slim.l2_regularizer(0.1)):\n"
        "    net *= tf.get_variable('w', [3])\n"
        "net = tf.layers.dense(net, 3)\n"
    )
    assert "('w', [3], regularizer=slim.l2_regularizer(0.1))" in found
    found = lifted(
        "with tf.variable_scope('a', regularizer=reg):\n"
        "    net = tf.layers.dense(net, 3)\n"
        "    net = tf.layers.dense(net, 4, use_bias=False)\n"
    )
    # TensorFlow 1.15 penalizes what has no regularizer of its own, biases too.
    assert "Dense(3, kernel_regularizer=reg, bias_regularizer=reg)" in found
    assert "Dense(4, use_bias=False, kernel_regularizer=reg)" in found


def test_arguments_of_functions() -> None:
    found = lifted(
        "with slim.arg_scope([slim.conv2d, slim.max_pool2d], padding='VALID'), \\\n"
        "        slim.arg_scope([slim.batch_norm], decay=0.9):\n"
        "    net = slim.conv2d(net, 8, 3, 2, 'SAME', normalizer_fn=slim.batch_norm,\n"
        "                      normalizer_params={'scale': True})\n"
        "    net = slim.max_pool2d(net, 2)\n"
        "    net = slim.repeat(net, 2, slim.conv2d, 8, 3)\n"
        "    net = slim.fully_connected(slim.flatten(net), 1)\n"
    )
    assert "slim.conv2d, 8, 3, 2, 'SAME', normalizer_fn=slim.batch_norm)" in found
    assert "normalizer_params={'decay': 0.9, 'scale': True})" in found
    assert "slim.max_pool2d, 2, padding='VALID')" in found
    assert "(slim.repeat, 2, slim.conv2d, 8, 3, padding='VALID')" in found
    assert "(slim.fully_connected, 1)" in found


@pytest.mark.parametrize(
    ("scope", "call", "why"),
    [
        (
            "regularizer=reg",
            "tf.layers.dense(net, 1, kernel_regularizer=l2)",
            "`tf.layers.dense` .* regul",
        ),
        ("regularizer=reg", "tf.layers.batch_normalization(net)", "gives its .* regul"),
        ("regularizer=reg", "slim.conv2d(net, 1, 3)", "`slim.conv2d` .* regularizer"),
        ("custom_getter=reg", "tf.layers.dense(net, 1)", "custom_getter"),
        ("constraint=reg", "tf.get_variable('w', [3])", "with `constraint`"),
        (
            "initializer=reg",
            "tf.nn.dynamic_rnn(cell, net, dtype=tf.float32)[0]",
            "gives its weights a initializer",
        ),
    ],
)
def test_what_cannot_be_said(scope: str, call: str, why: str) -> None:
    with pytest.raises(Blocked, match=why):
        lifted(f"with tf.variable_scope('s', {scope}):\n    net = {call}\n")


@pytest.mark.parametrize("given", ["scope()", "LAYERS, stride=2", "[slim.conv2d], **m"])
def test_scopes_out_of_sight(given: str) -> None:
    with pytest.raises(Blocked, match=r"arguments|name its functions"):
        lifted(f"with slim.arg_scope({given}):\n    net = slim.conv2d(net, 1, 3)\n")


def test_scopes_around_the_calls_of_functions() -> None:
    block = (
        "def block(x):\n    return slim.conv2d(x, 4, 3)\n\n\n"
        "def part(x):\n    return x * tf.get_variable('w', [3])\n\n\n"
    )
    code = "with slim.arg_scope([slim.conv2d], stride=2):\n    net = block(net)\n"
    assert "slim.conv2d, 4, 3, stride=2)" in lifted(code, block)
    with pytest.raises(Blocked, match="an arg_scope is around the calls of `block`"):
        lifted(f"{code}net = block(net)\n", block)
    assert "class Block(" in lifted(code.replace("slim.conv2d", "slim.dropout"), block)
    code = "with tf.variable_scope('s', initializer=start):\n    net = part(net)\n"
    found = lifted(f"{code}net = part(net)\n", block)
    assert "def __init__(self, initializer=None):" in found
    assert "self.get_variable('w', [3], initializer=self.initializer)" in found
    assert "= Part(initializer=start) self.part_2 = Part()" in found
    with pytest.raises(Blocked, match="scope around `part` gives its weights a in"):
        lifted(code, block.replace("return x", "return initializer(x)"))


def test_scopes_where_weights_are_made() -> None:
    scope = "with tf.variable_scope('s', initializer=start) as s:\n    net = %s(net)\n"
    made = "layer = tf.layers.Dense(3)\nnet = tf.layers.dense(net, 3)\n"
    with pytest.raises(Blocked, match=r"`tf.layers.Dense` gives its weights a in"):
        lifted(made + scope % "layer")
    again = "with tf.variable_scope(s):\n    net = tf.layers.dense(net, 3)\n"
    with pytest.raises(Blocked, match=r"`tf.variable_scope\(s\)` gives its wei"):
        lifted(scope % "tf.layers.flatten" + again)
