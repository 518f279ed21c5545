"""A grammar of model functions: layers in helpers, containers, closures, methods, loops.

One seed, one program of one or two files. Variables begin with values that are the same
everywhere, so that a program and its rewrite can be compared by what both leave in
``RESULT``: the figures of an evaluation, and what is predicted.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Net", "net"]

HEAD = '''"""A generated program."""

import functools

import numpy as np
import tensorflow as tf
'''
START = '''
def start(shape, dtype=None, partition_info=None):
    """Values that are the same everywhere."""
    count = int(np.prod([int(one) for one in shape]))
    values = np.sin(1.0 + 0.7 * np.arange(count)).reshape([int(one) for one in shape])
    return tf.constant(0.4 * values, dtype=dtype or tf.float32)
'''
DATA = """
def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    y = {labels}
    return tf.data.Dataset.from_tensor_slices(({{"x": x}}, y)).batch(8)


estimator = tf.estimator.Estimator(
    model_fn,
    config=tf.estimator.RunConfig(tf_random_seed=1),
    params={params},
)
estimator.train(lambda: data().repeat(), steps=5)
RESULT = dict(estimator.evaluate(data))
RESULT["predicted"] = np.sum([one["out"] for one in estimator.predict(data)])
"""
ACTIVATIONS = ("tf.nn.relu", "tf.nn.tanh", "tf.nn.elu", "tf.sigmoid", "None")
OPTIMIZERS = (
    "tf.train.AdamOptimizer(0.01)",
    "tf.train.GradientDescentOptimizer(0.05)",
    "tf.train.MomentumOptimizer(0.02, 0.9)",
    "tf.train.AdagradOptimizer(0.05)",
)
PARAMS = {
    "units": 3,
    "sizes": [3, 2],
    "deep": True,
    "wide": False,
    "kind": "second",
    "rate": 0.0,
    "options": {"scale": 0.5},
}


@dataclass
class Net:
    """A program, its other files, and the shapes that it has."""

    source: str
    others: dict[str, str] = field(default_factory=dict)
    traits: list[str] = field(default_factory=list)


class _Writer:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.count = 0
        # Definitions of the program's module, of the other one, and of the model_fn.
        self.module: list[str] = []
        self.other: list[str] = []
        self.traits: list[str] = []
        self.updates = False
        self.penalty = False

    def fresh(self, word: str) -> str:
        """A name that nothing has yet."""
        self.count += 1
        return f"{word}_{self.count}"

    def activation(self) -> str:
        return self.draw.choice(ACTIVATIONS)

    def units(self) -> str:
        return self.draw.choice(("2", "3", "4", "params['units']"))

    def number(self) -> str:
        """Units where no params are seen."""
        return self.draw.choice(("2", "3", "4"))

    def given(self, name: str | None = None) -> str:
        """Arguments of a layer with a kernel."""
        said = ["kernel_initializer=start"]
        activation = self.activation()
        if activation != "None":
            said.insert(0, f"activation={activation}")
        if name is not None:
            said.append(name)
        if self.draw.random() < 0.15:
            self.penalty = True
            scale = self.draw.choice(
                (
                    "tf.contrib.layers.l2_regularizer(0.02)",
                    "tf.keras.regularizers.l2(0.01)",
                )
            )
            said.append(f"kernel_regularizer={scale}")
        return ", ".join(said)

    def place(self, text: str) -> str:
        """Puts a definition into one of the two modules; how it is called there."""
        name = text.replace(":", "(").partition("(")[0].split()[-1]
        if self.draw.random() < 0.4:
            self.other.append(text)
            self.traits.append("another module")
            return f"blocks.{name}"
        self.module.append(text)
        return name

    # -- shapes: statements that make a new ``net`` of ``net``

    def dense(self) -> str:
        return f"net = tf.layers.dense(net, {self.units()}, {self.given()})\n"

    def scoped(self) -> str:
        name = self.fresh("scope")
        inner = textwrap.indent(self.dense() + self.scale(), "    ")
        return f"with tf.variable_scope('{name}'):\n{inner}"

    def scale(self) -> str:
        name = self.fresh("scale")
        return (
            f"{name} = tf.get_variable('{name}', [net.shape[-1]],\n"
            f"    initializer=tf.ones_initializer())\nnet = net * {name}\n"
        )

    def normalized(self) -> str:
        self.updates = True
        return "net = tf.layers.batch_normalization(net, training=is_training, momentum=0.8)\n"

    def dropped(self) -> str:
        return (
            "net = tf.layers.dropout(net, params['rate'],\n"
            "    training=mode == tf.estimator.ModeKeys.TRAIN)\n"
        )

    def helper(self) -> str:
        name = self.fresh("block")
        body = self.draw.choice(
            (
                f"    return tf.layers.dense(x, units, {self.given()})\n",
                f"    with tf.variable_scope(scope):\n"
                f"        x = tf.layers.dense(x, units, {self.given()})\n"
                f"        return tf.layers.dense(x, units + 1, {self.given()})\n",
                "    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):\n"
                "        for i in range(depth):\n"
                "            x = tf.layers.dense(x, units, name='d%d' % i, "
                "kernel_initializer=start)\n"
                "    return x\n",
                f"    y = tf.layers.dense(x, units, {self.given()})\n"
                f"    if depth > 1:\n"
                f"        y = tf.layers.dense(y, units, {self.given()})\n"
                f"    return y\n",
            )
        )
        called = self.place(f"def {name}(x, units, scope='{name}', depth=2):\n{body}")
        form = self.draw.choice(("once", "twice", "shared", "loop"))
        scope = self.fresh("part")
        if form == "once":
            return f"net = {called}(net, {self.units()})\n"
        if form == "loop":
            return (
                f"for i in range(2):\n"
                f"    net = {called}(net, {self.units()}, scope='{scope}_%d' % i)\n"
            )
        scopes = [f"'{scope}'", f"'{scope}'" if form == "shared" else f"'{scope}b'"]
        units = self.units()
        depth = self.draw.choice(("1", "2"))
        if "AUTO_REUSE" not in body and "scope(scope)" in body:
            scopes[1] = f"'{scope}b'"
        return (
            f"first = {called}(net, {units}, {scopes[0]}, depth={depth})\n"
            f"second = {called}(net * 2.0, {units}, {scopes[1]}, depth={depth})\n"
            f"net = first + second\n"
        )

    def closure(self) -> str:
        name = self.fresh("inner")
        units = self.units()
        return (
            f"def {name}(x, factor=1.0):\n"
            f"    x = tf.layers.dense(x, {units}, {self.given()})\n"
            f"    return x * factor if is_training or not params['wide'] else x * factor\n"
            f"\nnet = {name}(net)\n"
            + (f"net = {name}(net, 0.5)\n" if self.draw.random() < 0.5 else "")
        )

    def partial(self) -> str:
        name = self.fresh("layer")
        if self.draw.random() < 0.5:
            return (
                f"{name} = functools.partial(\n"
                f"    tf.layers.dense, kernel_initializer=start, "
                f"activation={self.activation()})\n"
                f"net = {name}(net, {self.units()})\n"
                f"net = {name}(net, units={self.units()}, activation=tf.nn.tanh)\n"
            )
        made = self.fresh("block")
        called = self.place(
            f"def {made}(x, units, rate):\n"
            f"    x = tf.layers.dense(x, units, {self.given()})\n"
            f"    return x * rate\n"
        )
        return (
            f"{name} = functools.partial({called}, rate=0.5)\n"
            f"net = {name}(net, {self.units()})\n"
        )

    def function(self) -> str:
        name = self.fresh("squash")
        form = self.draw.choice(
            (
                f"{name} = lambda v: tf.nn.tanh(v) * params['options']['scale']\n",
                f"def {name}(v):\n    return tf.nn.relu(v) - 0.1 * v\n\n",
            )
        )
        return (
            form + f"net = {name}(tf.layers.dense(net, 3, kernel_initializer=start))\n"
        )

    def method(self) -> str:
        name = self.fresh("Part")
        lines = self.draw.choice(
            (
                f"        x = tf.layers.dense(x, self.units, {self.given()})\n"
                f"        return self.squash(x)\n",
                f"        self.hidden = tf.layers.dense(x, self.units, {self.given()})\n"
                f"        x = tf.layers.dense(self.hidden, 2, {self.given()})\n"
                f"        return self.squash(x)\n",
                f"        for size in (self.units, 2):\n"
                f"            x = tf.layers.dense(x, size, {self.given()})\n"
                f"        return x\n",
            )
        )
        verb = self.draw.choice(("__call__", "build"))
        called = self.place(
            f"class {name}:\n"
            f"    def __init__(self, units, factor=0.5):\n"
            f"        self.units = units\n        self.factor = factor\n\n"
            f"    def squash(self, x):\n        return tf.nn.tanh(x) * self.factor\n\n"
            f"    def {verb}(self, x):\n{lines}"
        )
        part = self.fresh("part")
        call = part if verb == "__call__" else f"{part}.build"
        return f"{part} = {called}({self.units()})\nnet = {call}(net)\n"

    def table(self) -> str:
        name = self.fresh("heads")
        return (
            f"{name} = {{}}\n"
            f"for key in ('left', 'right'):\n"
            f"    {name}[key] = tf.layers.dense(net, 2, name='{name}_' + key,\n"
            f"        kernel_initializer=start)\n"
            f"net = tf.concat([{name}['left'], {name}['right']], 1)\n"
        )

    def listed(self) -> str:
        name = self.fresh("parts")
        form = self.draw.choice(("comprehension", "append", "objects", "dict"))
        self.traits.append(form)
        if form == "comprehension":
            sizes = self.draw.choice(("(2, 3)", "params['sizes']", "range(1, 4)"))
            return (
                f"{name} = [tf.layers.dense(net, n, {self.given()}) for n in {sizes}]\n"
                f"net = tf.concat({name}, 1)\n"
            )
        if form == "append":
            return (
                f"{name} = [net]\n"
                f"for size in params['sizes']:\n"
                f"    {name}.append(tf.layers.dense({name}[-1], size, {self.given()}))\n"
                f"net = tf.concat({name}, 1)\n"
            )
        if form == "objects":
            return (
                f"{name} = [tf.layers.Dense(n, {self.given()}) for n in (3, 2)]\n"
                f"for one in {name}:\n    net = one(net)\n"
            )
        return (
            f"{name} = {{'first': tf.layers.Dense(3, {self.given()}),\n"
            f"    'second': tf.layers.Dense(3, {self.given()})}}\n"
            f"net = {name}['first'](net) + {name}['second'](net)\n"
        )

    def shared(self) -> str:
        name = self.fresh("layer")
        return (
            f"{name} = tf.layers.Dense({self.units()}, {self.given()})\n"
            f"net = {name}(net) + {name}(net * 0.5)\n"
        )

    def loop(self) -> str:
        name = self.fresh("d")
        named = self.given(f"name='{name}_%d' % i")
        formatted = self.given(f"name='{name}_{{}}'.format(i)")
        return self.draw.choice(
            (
                f"for i in range(2):\n    net = tf.layers.dense(net, 3, {named})\n",
                f"for i, size in enumerate(params['sizes']):\n"
                f"    net = tf.layers.dense(net, size, {formatted})\n",
                f"for size, factor in zip((2, 3), (1.0, 0.5)):\n"
                f"    net = tf.layers.dense(net, size, {self.given()}) * factor\n",
                f"for i in range(3):\n"
                f"    shortcut = net\n"
                f"    net = tf.layers.dense(net, net.shape[-1], {self.given()})\n"
                f"    if i % 2 == 0:\n        net += shortcut\n",
            )
        )

    def branch(self) -> str:
        first = textwrap.indent(self.dense(), "    ")
        second = textwrap.indent(self.dense(), "    ")
        test = self.draw.choice(
            ("params['deep']", "params['wide']", "params.get('kind') == 'second'")
        )
        form = self.draw.choice(("if", "else", "elif"))
        if form == "if":
            return f"if {test}:\n{first}"
        if form == "else":
            return f"if {test}:\n{first}else:\n{second}"
        third = textwrap.indent(self.dense(), "    ")
        return (
            f"if params['kind'] == 'first':\n{first}"
            f"elif params['kind'] == 'second':\n{second}else:\n{third}"
        )

    def registry(self) -> str:
        first, second = self.fresh("way"), self.fresh("way")
        for name in (first, second):
            self.module.append(
                f"def {name}(x, units):\n"
                f"    return tf.layers.dense(x, units, {self.given()})\n"
            )
        table = self.fresh("WAYS")
        self.module.append(f"{table} = {{'first': {first}, 'second': {second}}}\n")
        return f"net = {table}[params['kind']](net, {self.units()})\n"

    def factory(self) -> str:
        name = self.fresh("make")
        called = self.place(
            f"def {name}(units, factor):\n"
            f"    def made(x):\n"
            f"        return tf.layers.dense(x, units, {self.given()}) * factor\n\n"
            f"    return made\n"
        )
        block = self.fresh("block")
        return f"{block} = {called}({self.units()}, 0.5)\nnet = {block}(net)\n"

    def options(self) -> str:
        name = self.fresh("options")
        return (
            f"{name} = {{'kernel_initializer': start, 'activation': tf.nn.tanh}}\n"
            f"net = tf.layers.dense(net, {self.units()}, **{name})\n"
        )

    def several(self) -> str:
        name = self.fresh("both")
        called = self.place(
            f"def {name}(x, *sizes, **more):\n"
            f"    first = tf.layers.dense(x, sizes[0], **more)\n"
            f"    return first, tf.layers.dense(x, sizes[1], **more)\n"
        )
        return (
            f"one, other = {called}(net, 3, {self.number()}, kernel_initializer=start)\n"
            f"net = tf.concat([one, other], 1)\n"
        )

    def contrib(self) -> str:
        return (
            "with tf.contrib.framework.arg_scope(\n"
            "    [tf.contrib.layers.fully_connected], weights_initializer=start):\n"
            f"    net = tf.contrib.layers.fully_connected(net, {self.units()},\n"
            f"        activation_fn={self.activation()})\n"
        )

    # -- the program

    def model_function(self) -> str:
        shapes: list[Callable[[], str]] = [
            *(self.dense, self.scoped, self.normalized, self.dropped, self.helper),
            *(self.helper, self.closure, self.partial, self.function, self.method),
            *(self.method, self.table, self.listed, self.listed, self.shared),
            *(self.loop, self.loop, self.branch, self.branch, self.registry),
            *(self.factory, self.options, self.several, self.contrib),
        ]
        body = (
            "is_training = mode == tf.estimator.ModeKeys.TRAIN\nnet = features['x']\n"
        )
        for shape in self.draw.choices(shapes, k=self.draw.randint(2, 5)):
            self.traits.append(shape.__name__)
            body += shape()
        task = self.draw.choice(("regression", "classes"))
        self.labels = (
            "x[:, :1] - 2.0 * x[:, 1:2]"
            if task == "regression"
            else "np.digitize(x[:, 0] + x[:, 1], [-1, 1]).astype(np.int32)"
        )
        outputs = 1 if task == "regression" else 3
        body += f"out = tf.layers.dense(net, {outputs}, kernel_initializer=start)\n"
        loss, metric = self.draw.choice(
            {
                "regression": (
                    (
                        "tf.losses.mean_squared_error(labels, out)",
                        "tf.metrics.mean_absolute_error(labels, out)",
                    ),
                    (
                        "tf.reduce_mean(tf.square(labels - out))",
                        "tf.metrics.mean(tf.abs(out))",
                    ),
                ),
                "classes": (
                    (
                        "tf.losses.sparse_softmax_cross_entropy(labels, out)",
                        "tf.metrics.accuracy(labels, tf.argmax(out, 1))",
                    ),
                    (
                        "tf.reduce_mean(\n"
                        "    tf.nn.sparse_softmax_cross_entropy_with_logits(\n"
                        "        labels=labels, logits=out))",
                        "tf.metrics.mean(tf.nn.softmax(out)[:, 0])",
                    ),
                ),
            }[task]
        )
        more = (
            "loss += tf.losses.get_regularization_loss()\n"
            if self.penalty and self.draw.random() < 0.7
            else ""
        )
        optimizer = self.draw.choice(OPTIMIZERS)
        step = "tf.train.get_global_step()"
        minimize = f"train_op = optimizer.minimize(loss, global_step={step})\n"
        if self.updates:
            minimize = (
                "with tf.control_dependencies(\n"
                "    tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n"
                f"    {minimize}"
            )
        body += (
            "if mode == tf.estimator.ModeKeys.PREDICT:\n"
            "    return tf.estimator.EstimatorSpec(mode, predictions={'out': out})\n"
            f"loss = {loss}\n{more}"
            f"metrics = {{'metric': {metric}}}\n"
            "if mode == tf.estimator.ModeKeys.EVAL:\n"
            "    return tf.estimator.EstimatorSpec(\n"
            "        mode, loss=loss, eval_metric_ops=metrics)\n"
            f"optimizer = {optimizer}\n{minimize}"
            "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n"
        )
        return "def model_fn(features, labels, mode, params):\n" + textwrap.indent(
            body, "    "
        )

    def write(self) -> Net:
        """The whole program."""
        model = self.model_function()
        data = DATA.format(labels=self.labels, params=PARAMS)
        head = HEAD + ("import blocks\n" if self.other else "")
        parts = [head, START.strip("\n") + "\n", *self.module, model, data.strip("\n")]
        others = {}
        if self.other:
            blocks = [HEAD, START.strip("\n") + "\n", *self.other]
            others["blocks"] = "\n\n".join(blocks)
        return Net("\n\n".join(parts) + "\n", others, self.traits)


def net(seed: int) -> Net:
    """The program of a seed; the same one on every machine."""
    return _Writer(seed).write()
