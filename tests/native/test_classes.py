"""Lifted classes become plain classes of Keras, or say why not."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.native.classes import plain_classes
from tfmigrate.rewrite.native.code import Refused
from tfmigrate.rewrite.native.dropout_cells import with_constant_shares
from tfmigrate.rewrite.native.makers import with_variables_inlined
from tfmigrate.rewrite.native.sequential import as_sequential

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
            "for i in range(2):\n"
            "    w = self.get_variable('w', [3])\n    x += w\nreturn x",
            "the rounds of a loop share the variables of `w`",
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
    ],
)
def test_what_keras_cannot_say_is_refused(init: str, call: str, why: str) -> None:
    with pytest.raises(Refused, match=why.replace("`", ".")):
        plain(model(init, call))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("net = Net()(features, 1)", "`Net` is made where it is called"),
        ("net = Net()\n    net = net(features, 1)", "`net` is a model, and what it"),
    ],
)
def test_a_model_that_a_task_cannot_hold(code: str, why: str) -> None:
    made = model("self.dense = tf.keras.layers.Dense(1)", "return self.dense(x)")
    function = (
        f"\n\ndef model_fn(features, labels, mode):\n    {code}\n    return net\n"
    )
    with pytest.raises(Refused, match=why):
        plain(made + function)


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

            def call(self, x, is_training):
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


# -- weights of several kinds


def test_a_dictionary_of_weights_holds_attributes() -> None:
    code = model(
        "pass",
        "weights = {\n"
        "    'a': self.new_variable(tf.zeros([3])),\n"
        "    'b': self.new_variable(tf.ones([3])),\n"
        "}\n"
        "return x * weights['a'] + weights['b']",
    )
    found = plain(code)
    assert "self.weights_a = tf.Variable(tf.zeros([3]))" in found
    assert "return x * self.weights_a + self.weights_b" in found


def test_a_name_that_has_several_weights_is_read_where_each_is_meant() -> None:
    code = model(
        "pass",
        "w = self.get_variable('a', [3])\n"
        "x = x * w\n"
        "w = self.get_variable('b', [3])\n"
        "return x + w",
    )
    assert "x = x * self.a\n        return x + self.b" in plain(code)


# -- shared layers


def test_layers_of_one_scope_and_name_are_one() -> None:
    code = model(
        "self.a = tf.keras.layers.Dense(4, name='a')\n"
        "self.a_2 = tf.keras.layers.Dense(4, name='a')\n"
        "self.b = tf.keras.layers.Dense(4, name='b')",
        "with tf.variable_scope('s', reuse=tf.AUTO_REUSE):\n"
        "    return self.b(self.a(x) + self.a_2(2 * x))",
    )
    found = plain(code)
    assert "a_2" not in found
    assert "return self.b(self.a(x) + self.a(2 * x))" in found
    with pytest.raises(Refused, match="may share variables"):
        plain(code.replace("Dense(4, name='a')", "Dense(5, name='a')", 1))


# -- places that make and call classes


def test_a_class_that_passes_on_is_the_other() -> None:
    code = """\
    class BuildNetwork(tf.estimator.ScopedLayer):
        \"\"\"Two layers.\"\"\"

        def __init__(self, units):
            super().__init__()
            self.dense = tf.keras.layers.Dense(units)
            self.dense_2 = tf.keras.layers.Dense(units)

        def call(self, x):
            return self.dense_2(self.dense(x))


    class Model(tf.estimator.ScopedModel):
        \"\"\"The layers of the model function.\"\"\"

        def __init__(self, params):
            super().__init__()
            self.build_network = BuildNetwork(units=params['units'])

        def call(self, features):
            with tf.variable_scope('net'):
                logits = self.build_network(features['x'])
            return logits


    def model_fn(features, labels, mode, params):
        model = Model(params)
        logits = model(features)
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    """
    found = plain(code)
    assert found.startswith('class Network(tf_keras.Model):\n    """Two layers."""\n')
    assert "class Model" not in found
    assert "    model = Network(units=params['units'])\n" in found
    assert "    logits = model(features['x'])\n" in found


def test_a_class_of_one_layer_is_a_function() -> None:
    code = """\
    class BatchNorm(tf.estimator.ScopedLayer):
        \"\"\"The usual one.\"\"\"

        def __init__(self, axis):
            super().__init__()
            self.norm = tf.keras.layers.BatchNormalization(axis=axis)

        def call(self, inputs, training):
            return self.norm(inputs, training=training)


    class Net(tf.estimator.ScopedModel):
        def __init__(self):
            super().__init__()
            self.batch_norm = BatchNorm(axis=1)
            self.dense = tf.keras.layers.Dense(1)

        def call(self, x, training):
            return self.dense(self.batch_norm(x, training))
    """
    assert plain(code) == dedent(
        """\
        def batch_norm(axis):
            \"\"\"The usual one.\"\"\"
            return tf_keras.layers.BatchNormalization(axis=axis)


        class Net(tf_keras.Model):
            def __init__(self):
                super().__init__()
                self.batch_norm = batch_norm(axis=1)
                self.dense = tf_keras.layers.Dense(1)

            def call(self, x, training):
                return self.dense(self.batch_norm(x, training=training))
        """
    )


def test_weights_that_a_call_gives_are_read_from_the_model() -> None:
    code = (
        model(
            "pass", "w = self.get_variable('w', [3])\ny = x * w\nreturn w, y"
        ).replace(", is_training", "")
        + "\n\ndef model_fn(features, labels, mode):\n"
        "    net = Net()\n"
        "    w, y = net(features)\n"
        "    return tf.reduce_sum(y) + tf.nn.l2_loss(w)\n"
    )
    found = plain(code)
    assert "        y = x * self.w\n        return y\n" in found
    assert "    y = net(features)\n" in found
    assert "tf.nn.l2_loss(net.w)" in found


def test_a_function_that_makes_its_model_at_each_call_is_refused() -> None:
    code = (
        model("self.dense = tf.keras.layers.Dense(1)", "return self.dense(x)")
        + "\n\ndef helper(x):\n"
        "    x = tf.square(x)\n    print(x)\n"
        "    net = Net()\n    return net(x, True)\n"
    )
    with pytest.raises(Refused, match="`helper` makes its layers whenever"):
        plain(code)


# -- recurrent networks


def recurrent(cell: str, call: str, more: str = "") -> str:
    return plain(
        model(
            f"self.rnn_ = tf.estimator.FunctionLayer(tf.nn.dynamic_rnn, dtype=tf.float32{more})",
            f"cell = {cell}\n{call}",
        )
    )


def test_the_last_output_is_all_that_is_read_of_an_lstm() -> None:
    found = recurrent(
        "tf.nn.rnn_cell.BasicLSTMCell(8, forget_bias=0.0)",
        "_, state = self.rnn_(cell, x)\nreturn state.h",
    )
    assert "tf_keras.layers.RNN(LSTMCell(8, forget_bias=0.0))" in found
    assert "state = self.rnn(x)\n        return state" in found


def test_outputs_behind_the_end_of_a_sequence_are_zero() -> None:
    found = recurrent(
        "tf.nn.rnn_cell.GRUCell(8)",
        "outputs, state = self.rnn_(cell, x, sequence_length=n)\nreturn outputs, state",
    )
    assert "zero_output_for_mask=True" in found
    assert "mask=tf.sequence_mask(n, tf.shape(x)[1])" in found


@pytest.mark.parametrize(
    ("cell", "read", "why"),
    [
        ("tf.nn.rnn_cell.LSTMCell(8, True)", "state.h", "use_peepholes"),
        ("tf.contrib.rnn.LayerNormBasicLSTMCell(8)", "state.h", "LayerNormBasic"),
        ("make()", "state", "a cell that is not seen"),
        ("tf.nn.rnn_cell.LSTMCell(8)", "f(state)", "handed on"),
    ],
)
def test_other_cells_are_refused(cell: str, read: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        recurrent(cell, f"_, state = self.rnn_(cell, x)\nreturn {read}")


# -- Sequential


def sequential(init: str, call: str) -> str | None:
    facts = ProjectFacts()
    text = HEAD + model(init, call).replace("is_training", "training").replace(
        "tf.estimator.ScopedModel", "tf_keras.Model"
    )
    return as_sequential(facts.load(Path("train.py"), text.encode()), "Net", {})


LAYERS = (
    "self.conv = tf_keras.layers.Conv2D(4, 3)\n"
    "self.layers_ = [tf_keras.layers.Dense(n) for n in sizes]"
)


def test_a_chain_is_sequential() -> None:
    found = sequential(
        LAYERS,
        "# Pictures.\n"
        "x = tf.nn.relu(self.conv(tf.reshape(x, [-1, 8, 8, 1])))  # edges\n"
        "x = tf.reduce_mean(x, [1, 2])\n"
        "for layer in self.layers_:\n    x = layer(x)\n"
        "return tf.nn.tanh(x)",
    )
    assert found == dedent(
        """\
        tf_keras.Sequential([
            # Pictures.
            tf_keras.layers.Reshape([8, 8, 1]),
            tf_keras.layers.Conv2D(4, 3),
            tf_keras.layers.ReLU(),  # edges
            tf_keras.layers.GlobalAveragePooling2D(),
            *(tf_keras.layers.Dense(n) for n in sizes),
            tf_keras.layers.Activation(tf.nn.tanh),
        ])"""
    )


@pytest.mark.parametrize(
    "call",
    [
        "return self.conv(x) + x",
        "y = self.conv(x)\nreturn self.conv(y)",
        "x = self.conv(x)\nx = tf.reshape(x, [-1, 4, 4])\nreturn x",
        "return self.conv(x, training=False)",
        "x = self.conv(x)\nprint(x)\nreturn x",
    ],
)
def test_what_is_no_chain_stays_a_class(call: str) -> None:
    assert sequential("self.conv = tf_keras.layers.Conv2D(4, 3)", call) is None


# -- helpers that make variables, wrappers of cells


def test_helpers_that_make_variables_stand_where_they_are_called() -> None:
    code = dedent(
        """\
        def weight(shape, stddev=0.1):
            initial = tf.truncated_normal(shape, stddev=stddev)
            return tf.Variable(initial)


        def net(x):
            return tf.matmul(x, weight([4, 2]))
        """
    )
    facts = ProjectFacts()
    parsed = facts.load(Path("train.py"), (HEAD + code).encode())
    found = with_variables_inlined(parsed, facts).source.text
    assert "def weight" not in found
    assert "tf.Variable(tf.truncated_normal([4, 2], stddev=0.1))" in found
    again = code.replace("return tf.Variable", "print(initial)\n    return tf.Variable")
    parsed = facts.load(Path("train.py"), (HEAD + again).encode())
    assert with_variables_inlined(parsed, facts) is parsed


def shares(code: str) -> tuple[str, bool | None]:
    facts = ProjectFacts()
    parsed = facts.load(Path("train.py"), (HEAD + dedent(code)).encode())
    found, always = with_constant_shares(parsed, facts)
    return found.source.text, always


WRAPPED = """\
def make(size, keep):
    return tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(size), keep)


def model_fn(features, labels, mode):
    keep = {}
    return tf.nn.dynamic_rnn(make(8, keep), features)
"""


def test_when_wrappers_drop_is_read_off_their_shares() -> None:
    asked = "0.5 if mode == tf.estimator.ModeKeys.TRAIN else 1.0"
    told = "features, training=mode == tf.estimator.ModeKeys.TRAIN)"
    text, always = shares(WRAPPED.format(asked))
    assert told in text
    assert always is False
    assert shares(WRAPPED.format("0.5"))[1] is True
    assert shares("x = 1\n")[1] is None
    with pytest.raises(Refused, match="DropoutWrapper"):
        shares(WRAPPED.format("0.5 if mode == other else 0.9"))
    also = "\n    print(tf.square(keep))"
    assert shares(WRAPPED.format(f"0.5{also}"))[1] is True
    assert told in shares(WRAPPED.format(f"{asked}{also}"))[0]
    apart = WRAPPED.replace("tf.nn.dynamic_rnn(", "run(").format(asked)
    apart += "\n\ndef run(cell, x):\n    return tf.nn.dynamic_rnn(cell, x)\n"
    text, _ = shares(apart)
    assert "tf.nn.dynamic_rnn(cell, x, training=training)" in text
    assert told in text
    within = WRAPPED.replace("    return tf.nn", f"{also}\n    return tf.nn")
    with pytest.raises(Refused, match="read for more than"):
        shares(within.format(asked))


def test_what_other_code_reads_and_says_stays() -> None:
    code = model(
        "self.units = units\nself.dense = tf.keras.layers.Dense(units)",
        "return self.dense(x) if is_training else x",
        ", units",
    )
    used = code + "\n\nnet = Net(3)\nprint(net.units)\nnet(x, is_training=True)\n"
    assert "self.units = units" not in plain(code)
    assert "self.units = units" in plain(used)
    assert "def call(self, x, is_training):" in plain(used)
