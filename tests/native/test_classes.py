"""Lifted classes become plain classes of Keras, or say why not."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from tfmigrate.native.classes import needs_update_ops, plain_classes
from tfmigrate.native.code import Refused
from tfmigrate.project.facts import ProjectFacts

HEAD = "import tensorflow as tf\n\n\n"


def plain(code: str, head: str = HEAD) -> str:
    """What the classes become, without the head of the file."""
    facts = ProjectFacts()
    text = head + dedent(code)
    found = plain_classes(facts.load(Path("train.py"), text.encode()), facts)
    ast.parse(found.source.text)
    assert found.source.text.startswith(head)
    return found.source.text.removeprefix(head)


def model(init: str, call: str, parameters: str = "") -> str:
    """A lifted class with these statements."""
    inits = "".join(f"        {line}\n" for line in dedent(init).splitlines())
    calls = "".join(f"        {line}\n" for line in dedent(call).splitlines())
    return (
        "class Net(tf.estimator.ScopedModel):\n"
        f"    def __init__(self{parameters}):\n"
        f"        super().__init__()\n{inits}\n"
        f"    def call(self, x, is_training):\n{calls}"
    )


# -- nothing to do


def test_a_module_without_lifted_classes_stays() -> None:
    code = "class Net(tf.keras.Model):\n    pass\n"
    assert plain(code) == code


def test_a_class_of_that_name_that_is_not_lifted_stays() -> None:
    code = 'NAME = "tf.estimator.ScopedModel"\n\n\nclass Net(Base):\n    pass\n'
    assert plain(code) == code


# -- refused


@pytest.mark.parametrize(
    ("init", "call", "why"),
    [
        (
            "self.f = tf.estimator.FunctionLayer(my_layer, 3)",
            "return self.f(x)",
            "`my_layer` makes variables where it is called",
        ),
        (
            "pass",
            "w = self.get_variable('w', [3], partitioner=cut)\nreturn x * w",
            "the weight `w` is made with `partitioner`",
        ),
        (
            "pass",
            "w = self.get_variable('w', [3], tf.float64)\nreturn x * w",
            "the weight `w` is of type `tf.float64`",
        ),
        (
            "pass",
            "y = tf.square(x)\n"
            "w = self.get_variable('w', [y.shape[1].value])\nreturn x * w",
            "the weight `w` follows from `x`, which only the call knows",
        ),
        (
            "pass",
            "if is_training:\n    x = x * self.get_variable('w', [2])\nreturn x",
            "follows from `is_training`, which only the call knows",
        ),
        (
            "self.bn = tf.keras.layers.BatchNormalization(trainable=False)",
            "return self.bn(x, training=is_training)",
            "Keras runs such a layer in inference",
        ),
        (
            "pass",
            "with tf.variable_scope('a') as scope:\n    y = f(x, scope)\nreturn y",
            "the scope `scope` is used as a value",
        ),
        (
            "pass",
            "return self.keep_weights(cell, x)",
            "`cell` makes variables where it is called",
        ),
    ],
)
def test_what_keras_cannot_say_is_refused(init: str, call: str, why: str) -> None:
    with pytest.raises(Refused, match=why.replace("`", ".")):
        plain(model(init, call))


# -- weights


def test_variables_of_the_call_are_weights_of_the_constructor() -> None:
    code = model(
        "self.size = size\nself.dense = tf.keras.layers.Dense(1)",
        "with tf.variable_scope('first'):\n"
        "    # A bias.\n"
        "    b = self.get_variable('b', [self.size],\n"
        "                          initializer=tf.zeros_initializer())\n"
        "    w = self.get_variable('w', [4, self.size], trainable=False)\n"
        "    y = tf.matmul(x, w) + b  # linear\n"
        "return self.dense(y)",
        ", size",
    )
    assert plain(code) == dedent(
        """\
        class Net(tf_keras.Model):
            def __init__(self, size):
                super().__init__()
                self.b = self.add_weight('b', [size], initializer='zeros')
                self.w = self.add_weight('w', [4, size], trainable=False)
                self.dense = tf_keras.layers.Dense(1)

            def call(self, x, training):
                # A bias.
                y = tf.matmul(x, self.w) + self.b  # linear
                return self.dense(y)
        """
    )


def test_a_size_of_the_input_is_known_to_build() -> None:
    code = model(
        "self.units = units",
        "size = x.get_shape().as_list()[-1]\n"
        "w = self.get_variable('w', [size, self.units])\n"
        "return tf.matmul(x, w)",
        ", units",
    )
    assert "    def build(self, input_shape):\n" in plain(code)
    assert "self.add_weight('w', [input_shape[-1], self.units])" in plain(code)
    assert "get_shape" not in plain(code)


def test_a_table_that_is_looked_up_once_is_an_embedding() -> None:
    code = model(
        "pass",
        "table = self.get_variable('table', [9, 2])\n"
        "return tf.nn.embedding_lookup(table, x)",
    )
    found = plain(code)
    assert "self.table = tf_keras.layers.Embedding(" in found.replace(
        "\n            ", ""
    )
    assert "return self.table(x)" in found
    again = code.replace("return ", "y = table + 1\n        return ")
    assert "Embedding" not in plain(again)


def test_scopes_say_how_weights_begin() -> None:
    code = model(
        "self.dense = tf.keras.layers.Dense(1, kernel_initializer=None)",
        "with tf.variable_scope('a', initializer=tf.glorot_normal_initializer()):\n"
        "    w = self.get_variable('w', [3])\n"
        "    return self.dense(x * w)",
    )
    found = plain(code)
    assert "self.add_weight('w', [3], initializer='glorot_normal')" in found
    assert "Dense(1, kernel_initializer='glorot_normal')" in found


# -- layers of contrib


def test_arguments_come_from_scopes_around() -> None:
    head = HEAD.replace("\n\n\n", "\nlayers = tf.contrib.layers\n\n\n")
    code = model(
        "self.fc = tf.estimator.FunctionLayer(layers.fully_connected, 8, scope='fc')",
        "with tf.contrib.framework.arg_scope(\n"
        "    [layers.fully_connected],\n"
        "    activation_fn=tf.nn.elu,\n"
        "    weights_regularizer=layers.l2_regularizer(1e-3)):\n"
        "    return self.fc(layers.dropout(x, 0.8, is_training=is_training))",
    )
    found = plain(code, head)
    assert "activation=tf.nn.elu" in found
    assert "kernel_regularizer=tf_keras.regularizers.L2(1e-3 / 2)" in found
    assert "self.dropout = tf_keras.layers.Dropout(0.2)" in found
    assert "return self.fc(self.dropout(x, training=training))" in found


def test_whether_averages_need_their_updates_run() -> None:
    facts = ProjectFacts()

    def asked(code: str) -> bool:
        return needs_update_ops(facts.load(Path("train.py"), (HEAD + code).encode()))

    assert asked(model("self.b = tf.keras.layers.BatchNormalization()", "return x"))
    assert not asked(model("self.b = tf.keras.layers.Dense(1)", "return x"))
