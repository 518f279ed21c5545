"""Calls of which only the program knows what they call: tables, parameters, attributes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .evaluating import HEAD, evaluate, made, reasons

SQUARED = "def squared(x, y):\n    return tf.losses.mean_squared_error(x, y)\n\n\n"
TABLE = f"TABLE = {{}}\n\n\n{SQUARED}"
DECORATED = (
    "TABLE = {}\n\n\ndef put(name):\n    def add(f):\n        TABLE[name] = f\n"
    f"        return f\n    return add\n\n\n@put('squared')\n{SQUARED}"
)
OBJECT = (
    "class Zoo:\n    def __init__(self):\n        self.kinds = {}\n\n"
    "    def add(self, name):\n        def put(f):\n            self.kinds[name] = f\n"
    "            return f\n        return put\n\n"
    "    def __getitem__(self, name):\n        return self.kinds[name]\n\n\n"
    f"TABLE = Zoo()\n\n\n@TABLE.add('squared')\n{SQUARED}"
)
MODEL = (
    "def model_fn(features, labels, mode, params):\n"
    "    net = tf.layers.dense(features, 3)\n"
    "    return TABLE[params['loss']](labels, net)\n"
)


@pytest.mark.parametrize(
    "filled",
    [
        f"{TABLE}TABLE['squared'] = squared\n",
        f"{TABLE}TABLE.update(squared=squared)\n",
        f"{TABLE}TABLE.setdefault('squared', squared)\n",
        f"{TABLE}for one in [squared]:\n    TABLE[one.__name__] = one\n",
        f"{TABLE}SAME = TABLE\nSAME['squared'] = squared\n",
        DECORATED,
        OBJECT,
        # Functions of other numbers of arguments cannot be meant, nor what
        # TensorFlow is given.
        f"{DECORATED}@put('net')\ndef net(x):\n    return tf.layers.dense(x, 3)\n\n\n",
        f"{DECORATED}tf.estimator.Estimator(lambda x, y: tf.layers.dense(x, y))\n",
    ],
)
def test_functions_that_make_no_layers(filled: str, tmp_path: Path) -> None:
    found = evaluate(tmp_path, f"{HEAD}{filled}{MODEL}")
    assert made(found) == ["Dense(3)"]
    assert not reasons(found)


def test_functions_of_other_files(tmp_path: Path) -> None:
    losses = f"{HEAD}{DECORATED}def get(name):\n    return TABLE[name]\n"
    code = f"{HEAD}import losses\n\n\n" + MODEL.replace(
        "TABLE[params['loss']]", "losses.get(params['loss'])"
    )
    assert not reasons(evaluate(tmp_path, code, losses=losses))
    more = f"{HEAD}import losses\n\n\n@losses.put('net')\ndef net(x, y):\n"
    more += "    return tf.layers.dense(x, 3)\n"
    (why,) = reasons(evaluate(tmp_path, code, losses=losses, more=more))
    assert "`losses.get(params['loss'])` may make variables: it comes of" in why
    assert "(perhaps `net` of more.py, which makes layers)" in why


NET = "def net(x, y):\n    return tf.layers.dense(x, 3)\n\n\n"


@pytest.mark.parametrize(
    ("more", "which"),
    [
        (f"{NET}TABLE['net'] = net\n", "`net` of program.py"),
        (f"@put('net')\n{NET}", "`net` of program.py"),
        (f"{NET}KIND = getattr(params, 'net')\n", "`net` of program.py"),
        ("TABLE['net'] = lambda x, y: tf.layers.dense(x, 3)\n", "a lambda of"),
        ("TABLE['net'] = tf.layers.dense\n", "`tf.layers.dense`"),
        ("TABLE['net'] = tf.layers.Dense(3)\n", "what `tf.layers.Dense` gives"),
        ("import importlib\nimportlib.import_module('net')\n", "`import_module` finds"),
        ("import house\n", "the package `house`"),
        # Arguments that are given before, and methods by their class.
        ("def net(x, y, z):\n    return tf.layers.dense(x, z)\n\n\n"
         "TABLE['net'] = functools.partial(net, z=3)\n", "`net` of program.py"),
        ("class Nets:\n    @staticmethod\n    def net(x, y):\n"
         "        return tf.layers.dense(x, 3)\n\n\nTABLE['net'] = Nets.net\n",
         "`net` of program.py"),
        ("class Nets:\n    def net(self, x):\n"
         "        return tf.layers.dense(x, 3)\n\n\nTABLE['net'] = Nets.net\n",
         "`net` of program.py"),
        ("class Net:\n    def __init__(self, x, y):\n        pass\n\n\nNets = [Net]\n",
         "an object of `Net`"),
        ("class Net:\n    def __init__(self):\n"
         "        self.scale = tf.get_variable('scale', [])\n\n"
         "    def __call__(self, x, y):\n        return self.scale * x\n\n\n",
         "`__call__` of program.py"),
        # A function around another one calls whatever that is.
        (f"{NET}def around(f):\n    def inner(*args):\n        return f(*args)\n"
         "    return inner\n\n\nTABLE['net'] = around(net)\n", "of program.py"),
    ],
)  # fmt: skip
def test_one_that_may_make_layers(more: str, which: str, tmp_path: Path) -> None:
    (why, *_) = reasons(evaluate(tmp_path, f"{HEAD}{DECORATED}{more}\n\n{MODEL}"))
    assert "`TABLE[params['loss']]` may make variables" in why
    assert which in why


def test_what_none_of_the_functions_fits(tmp_path: Path) -> None:
    (why,) = reasons(evaluate(tmp_path, f"{HEAD}TABLE = {{}}\n\n\n{MODEL}"))
    assert "may make variables" in why
    assert "perhaps" not in why
