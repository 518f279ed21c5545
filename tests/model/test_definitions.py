"""Definitions with decorators, in registries, in derived classes, given to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from .evaluating import HEAD, evaluate, made, reasons

MODEL = "\n\ndef model_fn(features, labels, mode, params):\n    return "
DENSE = "    return tf.layers.dense(x, 3)\n"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        # A decorator of another package may do anything with a function.
        (f"import house\n\n\n@house.kept\ndef net(x):\n{DENSE}", "net"),
        # One of the project's own that gives something else.
        (
            f"def first(f):\n    return params_of(f)\n\n\n@first\ndef net(x):\n{DENSE}",
            "params_of",
        ),
        # A gradient of its own is one of tensors.
        (f"@tf.custom_gradient\ndef net(x):\n{DENSE}", "net"),
    ],
)
def test_what_is_not_known(code: str, reason: str, tmp_path: Path) -> None:
    found = evaluate(tmp_path, f"{HEAD}{code}{MODEL}net(features)\n")
    assert f"`{reason}` may make variables" in reasons(found)[0]


def test_a_method_that_nothing_has(tmp_path: Path) -> None:
    """Nothing derives from the class."""
    code = "class Base:\n    def __call__(self, x):\n        return self.net(x)\n\n\n"
    found = evaluate(tmp_path, f"{HEAD}{code}net = Base()\n{MODEL}net(features)\n")
    (passed,) = found.notes.passed.values()
    assert "`self.net` is not followed" in passed.reason


@pytest.mark.parametrize(
    "decorator",
    [
        "def kept(f):\n    KNOWN[f.__name__] = f\n    return f\n\n\n@kept",
        "def named(name):\n    def put(f):\n        KNOWN[name] = f\n"
        "        return f\n    return put\n\n\n@named('net')",
        "def around(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n"
        "        with tf.variable_scope(f.__name__):\n"
        "            return f(*a, **k)\n    return inner\n\n\n@around",
    ],
)
def test_decorators_of_the_project(decorator: str, tmp_path: Path) -> None:
    code = f"{HEAD}KNOWN = {{}}\n\n\n{decorator}\ndef net(x):\n{DENSE}"
    found = evaluate(tmp_path, f"{code}{MODEL}net(features)\n")
    assert [one.rpartition("/")[2] for one in made(found)] == ["Dense(3)"]
    assert not reasons(found)


@pytest.mark.parametrize(
    "cache", ["@functools.lru_cache(maxsize=None)", "@functools.cache"]
)
def test_a_function_whose_answers_are_kept(cache: str, tmp_path: Path) -> None:
    """One that makes layers would share them: it is not followed."""
    start = f"import numpy as np\n{HEAD}{cache}\ndef values(shape):\n"
    numbers = f"{start}    return np.ones(shape)\n\n\ndef net(x):\n{DENSE}"
    found = evaluate(tmp_path, f"{numbers}{MODEL}net(features) * values((2, 3))\n")
    assert [one.rpartition("/")[2] for one in made(found)] == ["Dense(3)"]
    assert not reasons(found)
    layers = f"{start}    return tf.layers.dense(shape, 1)\n"
    (why,) = reasons(evaluate(tmp_path, f"{layers}{MODEL}values(features)\n"))
    assert "`values` may make variables" in why


@pytest.mark.parametrize(
    "filled",
    [
        # What it is filled with is read from it; a function reads files for it.
        "KNOWN['size'] = len(KNOWN['path'])\n",
        "def read(path):\n    return open(path).read()\n\n\n"
        "KNOWN['words'] = read(KNOWN['path'])\n",
        "KNOWN['all'] = functools.partial(max, KNOWN['path'])\n",
    ],
)
def test_settings_that_are_filled_with_themselves(filled: str, tmp_path: Path) -> None:
    code = f"{HEAD}import functools\nKNOWN = {{'path': 'words.txt'}}\n{filled}"
    code += f"\n\ndef net(x):\n    x = x / KNOWN['size']\n{DENSE}"
    found = evaluate(tmp_path, f"{code}{MODEL}net(features)\n")
    assert made(found) == ["Dense(3)"]
    assert not reasons(found)


def test_a_custom_gradient_is_a_function_of_tensors(tmp_path: Path) -> None:
    code = "@tf.custom_gradient\ndef flip(x):\n    return x, lambda dy: -dy\n"
    found = evaluate(
        tmp_path, f"{HEAD}{code}{MODEL}tf.layers.dense(flip(features), 2)\n"
    )
    assert made(found) == ["Dense(2)"]
    assert not reasons(found)


@pytest.mark.parametrize("body", ["pass", "raise NotImplementedError", "...", "'It.'"])
def test_a_method_that_derived_classes_have(body: str, tmp_path: Path) -> None:
    base = f"class Base:\n    def net(self, x):\n        {body}\n"
    model = (
        "    def model_fn(self, features, labels, mode):\n"
        "        return self.net(features)\n"
    )
    own = (
        "import tensorflow as tf\nfrom program import Base\n\n\n"
        f"class Own(Base):\n    def net(self, x):\n    {DENSE}"
    )
    found = evaluate(tmp_path, f"{HEAD}{base}\n{model}", own=own)
    assert made(found) == ["Dense(3)"]
    assert not reasons(found)


def test_methods_without_an_object(tmp_path: Path) -> None:
    code = (
        "class Net:\n    @staticmethod\n    def block(x):\n"
        "        return tf.layers.dense(x, 3)\n\n"
        "    @classmethod\n    def build(cls, x):\n        return cls.block(x)\n"
    )
    found = evaluate(tmp_path, f"{HEAD}{code}{MODEL}Net().build(features)\n")
    assert made(found) == ["Dense(3)"]
    assert not reasons(found)


def test_a_function_that_makes_the_model_function_is_given_one(tmp_path: Path) -> None:
    code = (
        f"{HEAD}def net(x):\n{DENSE}\n\ndef make(network):\n"
        "    def model_fn(features, labels, mode):\n"
        "        return network(features)\n    return model_fn\n\n\nmake(net)\n"
    )
    assert made(evaluate(tmp_path, code)) == ["Dense(3)"]
    unseen = evaluate(tmp_path, code.replace("make(net)\n", "make(nets[0])\n"))
    assert "`network` may make variables" in reasons(unseen)[0]


def test_options_whose_keys_nobody_sees(tmp_path: Path) -> None:
    code = (
        f"{HEAD}def net(x, units=4, names=('a', 'b')):\n"
        "    for _ in names:\n        x = tf.layers.dense(x, units)\n    return x\n"
    )
    found = evaluate(tmp_path, f"{code}{MODEL}net(features, **params)\n")
    assert made(found) == ["for/Dense(?)"]
    assert not reasons(found)


def test_functions_imported_by_a_star(tmp_path: Path) -> None:
    code = f"from blocks import *\n{HEAD}{MODEL.lstrip()}net(features)\n"
    blocks = f"import tensorflow as tf\n\n\ndef net(x):\n{DENSE}"
    assert made(evaluate(tmp_path, code, blocks=blocks)) == ["Dense(3)"]
    hidden = evaluate(
        tmp_path, code.replace("net(f", "_net(f"), blocks=blocks.replace("net", "_net")
    )
    assert "`_net` may make variables" in reasons(hidden)[0]


def test_one_of_pythons_own_under_another_name(tmp_path: Path) -> None:
    code = f"try:\n    xrange\nexcept NameError:\n    xrange = range\n{HEAD}"
    found = evaluate(
        tmp_path,
        f"{code}{MODEL}[tf.layers.dense(features, 2) for _ in xrange(2)]\n",
    )
    assert not reasons(found)


@pytest.mark.parametrize(
    "way",
    [
        "[net(features) for name, net in sorted(KNOWN.items())]",
        "[net(features) for net in KNOWN.values()]",
        "(params['net'] or KNOWN['a'])(features)",
        "(params and KNOWN['a'])(features)",
    ],
)
def test_functions_of_a_dict_in_turn_and_by_default(way: str, tmp_path: Path) -> None:
    code = f"{HEAD}def net(x):\n{DENSE}\n\nKNOWN = {{'a': net}}\n"
    found = evaluate(tmp_path, f"{code}{MODEL}{way}\n")
    assert made(found) == ["Dense(3)"]


@pytest.mark.parametrize(
    ("setting", "known"),
    [("None", True), ("'3,4'", True), ("{'units': '3,4'}", True), ("read()", False)],
)
def test_settings_of_another_file(setting: str, known: bool, tmp_path: Path) -> None:
    code = (
        f"import task\n{HEAD}def sizes(settings):\n"
        "    return [int(one) for one in settings.units.split(',')]\n"
    )
    model = "tf.layers.dense(features, sizes(task.SETTINGS)[0])\n"
    found = evaluate(tmp_path, f"{code}{MODEL}{model}", task=f"SETTINGS = {setting}\n")
    said = " ".join(reasons(found))
    assert bool(said) is not known
    if said:
        assert "`settings.units.split` may make variables: " in said
        assert "in task.py" in said, "which made it"


@pytest.mark.parametrize(
    ("parameter", "more", "seen"),
    [
        ("network=net", "", True),
        ("network=None", "functools.partial(model_fn, network=net)\n", True),
        ("network=other", "functools.partial(model_fn, network=net)\n", True),
        ("network=None", "", False),
        ("network=None", "functools.partial(model_fn, **settings)\n", False),
    ],
)
def test_what_a_model_function_has_of_its_own(
    parameter: str, more: str, seen: bool, tmp_path: Path
) -> None:
    code = f"{HEAD}def net(x):\n{DENSE}\n\ndef other(x):\n    return x\n"
    model = (
        f"\n\ndef model_fn(features, labels, mode, {parameter}):\n"
        f"    return network(features)\n\n\n{more}"
    )
    found = evaluate(tmp_path, code + model)
    assert made(found) == (["Dense(3)"] if seen else [])
    assert bool(reasons(found)) != seen


@pytest.mark.parametrize("decorator", ["scoped", "house.scoped"])
def test_methods_with_decorators_of_the_project(decorator: str, tmp_path: Path) -> None:
    code = (
        f"import house\n{HEAD}def scoped(f):\n    @functools.wraps(f)\n"
        "    def around(self, *a, **k):\n        with tf.variable_scope('net'):\n"
        "            return f(self, *a, **k)\n    return around\n\n\n"
        f"class Net:\n    def __init__(self, size):\n        self.size = size\n\n"
        f"    @{decorator}\n    def net(self, x, more=1):\n"
        "        return tf.layers.dense(x, 3)\n"
    )
    found = evaluate(tmp_path, f"{code}{MODEL}Net(3).net(features, more=2)\n")
    assert made(found) == (["scope 'net'/Dense(3)"] if decorator == "scoped" else [])


def test_options_that_are_none(tmp_path: Path) -> None:
    code = (
        f"{HEAD}def net(x, **options):\n    size = options.get('size')\n"
        "    for name, one in options.items():\n        size = one\n" + DENSE
    )
    found = evaluate(tmp_path, f"{code}{MODEL}net(features)\n")
    assert made(found) == ["Dense(3)"]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("nets", "'build_' + params"),
        ("nets", "params"),
        ("sys.modules[__name__]", "'own_' + params"),
    ],
)
def test_functions_by_computed_names_are_not_seen(
    place: str, name: str, tmp_path: Path
) -> None:
    nets = f"import tensorflow as tf\n\n\ndef build_net(x):\n{DENSE}"
    code = f"import sys\nimport nets\n{HEAD}def own_net(x):\n{DENSE}"
    called = f"{code}{MODEL}getattr({place}, {name})(features)\n"
    found = evaluate(tmp_path, called, nets=nets)
    assert not made(found)
    assert reasons(found)


def test_an_option_that_is_taken_out_of_the_others(tmp_path: Path) -> None:
    code = (
        f"{HEAD}def scoped(f):\n    def inner(*args, **options):\n"
        "        scope = options.pop('scope', f.__name__)\n"
        "        with tf.variable_scope(scope):\n"
        "            return f(*args, **options)\n    return inner\n\n\n"
        f"@scoped\ndef net(x, units):\n    return tf.layers.dense(x, units)\n"
    )
    given = f"{code}{MODEL}net(features, units=3, scope='other')\n"
    found = evaluate(tmp_path, given)
    assert [one.rpartition("/")[2] for one in made(found)] == ["Dense(3)"]
    assert not reasons(found)
    left = evaluate(tmp_path, given.replace("pop(", "get("))
    assert "has no parameter `scope`" in reasons(left)[0]
