"""Model functions evaluated with abstract values."""

from __future__ import annotations

from pathlib import Path

import pytest

from .evaluating import HEAD, START, body, evaluate, made, reasons

NET_ALONE = (
    HEAD
    + """\
class Net:
    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        return tf.layers.dense(x, self.size)

    def net_a(self, x):
        return self(x)

    def net_b(self, x):
        return self(x)


"""
)
NET = NET_ALONE + START[len(HEAD) :]


def indented(code: str) -> str:
    return "".join(f"    {line}\n" for line in code.splitlines())


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "loss = tf.losses.mean_squared_error(labels, features['x'])",
        "for name in params['names']:\n    print(name, features[name].shape)",
        "tf.logging.info('%s', mode)\nassert params\nreturn tf.no_op()",
    ],
)
def test_nothing_is_made(code: str, tmp_path: Path) -> None:
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)


@pytest.mark.parametrize(
    "record",
    [
        "Sizes = collections.namedtuple('Sizes', 'units rate')",
        "class Sizes(typing.NamedTuple):\n    units: int\n    rate: float = 0.1",
        "@dataclasses.dataclass\nclass Sizes:\n    units: int\n    rate: float = 0.1",
    ],
)
def test_records_and_the_standard_library_make_nothing(
    record: str, tmp_path: Path
) -> None:
    head = "import collections, dataclasses, pathlib, typing\n" + HEAD
    code = (
        f"{head}{record}\n\n\ndef model_fn(features, labels, mode, params):\n"
        "    sizes = Sizes(**params)\n"
        "    with pathlib.Path(params['words']).open() as file:\n"
        "        count = len(file.readlines())\n"
        "    net = tf.layers.dense(features, sizes.units)\n"
        "    return tf.layers.dense(net, count)\n"
    )
    found = evaluate(tmp_path, code)
    assert made(found) == ["Dense(?)"] * 2
    assert not reasons(found)


def test_what_a_record_does_is_not_overlooked(tmp_path: Path) -> None:
    code = (
        f"import dataclasses\n{HEAD}@dataclasses.dataclass\nclass Net:\n"
        "    units: int\n\n    def build(self, x):\n"
        "        return tf.layers.dense(x, 3)\n\n\n"
        "def model_fn(features, labels, mode, params):\n"
        "    return Net(2).build(features)\n"
    )
    assert made(evaluate(tmp_path, code)) == ["Dense(3)"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("net = params['builder'](features)", "`params['builder']` may make variables"),
        ("net = tf.layers.Dense(tf.shape(labels)[0])", "a layer depends on"),
        ("x = list(map(tf.layers.dense, [features], [1]))", "by `map`"),
        (
            "f = tf.layers.dense if params else lambda x, n: tf.layers.dense(x, n)\n"
            "x = f(features, 3)",
            "one of several functions",
        ),
        ("v = tf.Variable(*params)", "not written out"),
        ("net = tf.contrib.rnn.NewCell(3)(features)", "may make variables"),
    ],
)
def test_what_is_unknown_says_why(code: str, reason: str, tmp_path: Path) -> None:
    assert reason in reasons(body(tmp_path, code))[0]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = tf.layers.dense(features, 3)", ["Dense(3)"]),
        ("f = lambda x: tf.layers.dense(x, 3)\nf(f(features))", ["Dense(3)"] * 2),
        (
            "def g(x, n, m):\n    return tf.layers.dense(x, n + m, name='d')\n"
            "f = functools.partial(g, m=2)\nx = f(features, n=1)",
            ["Dense('d', ?)"],
        ),
        (
            "for n in (4, 5):\n    x = tf.layers.dense(features, n)",
            ["for/Dense(?)"],
        ),
        (
            "with tf.variable_scope('a'), tf.name_scope('b'):\n"
            "    x = tf.get_variable('v', [1])",
            ["scope 'a'/with/get_variable('v', ?)"],
        ),
        (
            "if mode == 'train':\n    x = tf.layers.dense(features, 1)\n"
            "else:\n    x = tf.layers.dense(features, 2)",
            ["if/Dense(1)", "else/Dense(2)"],
        ),
        (
            "sizes = {'a': 1, 'b': 2}\nx = tf.layers.dense(features, sizes['b'])",
            ["Dense(2)"],
        ),
        ("a, (b, c) = 1, (2, 3)\nx = tf.layers.dense(features, c)", ["Dense(3)"]),
    ],
)
def test_ways_to_make_layers(code: str, expected: list[str], tmp_path: Path) -> None:
    found = body(tmp_path, code)
    assert made(found) == expected
    assert not reasons(found)


def test_helpers_of_other_files_methods_and_defaults(tmp_path: Path) -> None:
    program = (
        "import blocks\nfrom blocks import Net as N\n" + START + "    net = N(5)\n"
        "    x = blocks.twice(net.run(features), name='y')\n    return x\n"
    )
    blocks = HEAD + (
        "class Net:\n    def __init__(self, units):\n        self.units = units\n"
        "    def run(self, x):\n        return tf.layers.dense(x, self.units)\n\n"
        "def once(x, n, name='x'):\n    with tf.variable_scope(name):\n"
        "        return tf.layers.dense(x, n)\n\n"
        "def twice(x, **more):\n    return once(once(x, 1), 2, **more)\n"
    )
    found = evaluate(tmp_path, program, blocks=blocks)
    assert made(found) == ["Dense(5)", "scope 'x'/Dense(1)", "scope 'y'/Dense(2)"]
    assert not reasons(found)


def test_a_function_that_calls_itself_ends(tmp_path: Path) -> None:
    program = HEAD + (
        "def deep(x, n):\n    x = tf.layers.dense(x, n)\n"
        "    return deep(x, n - 1) if n else x\n\n\n"
        "def model_fn(features, labels, mode):\n    return deep(features, 3)\n"
    )
    assert made(evaluate(tmp_path, program))


def test_parts_of_a_value_that_are_written_as_one(tmp_path: Path) -> None:
    head = HEAD + "def scaled(x, y, by):\n    return x * y + by\n\n\n"
    head += "def wide(x, units):\n    return tf.layers.dense(x, units)\n\n\n"
    start = "def model_fn(features, labels, mode, params):\n    "
    scaled = "pair = tf.split(features, 2)\n    net = scaled(*pair, by=0.5)\n    "
    code = f"{head}{start}{scaled}return wide(net, 3)\n"
    found = evaluate(tmp_path, code)
    assert made(found) == ["Dense(3)"]
    assert not reasons(found)
    # Which part is the number of units cannot be told.
    found = evaluate(tmp_path, f"{head}{start}return wide(*tf.split(features, 2))\n")
    assert any("not written out" in reason for reason in reasons(found))


@pytest.mark.parametrize(
    "code",
    [
        # Which of the objects, and of which class, only a plain index says.
        "nets = [Net(1) for _ in params] + [abs]\nx = nets[0](features)",
        "x = getattr(Net(3), params['name'])(features)",
        "x = getattr(Net(3), 'of_' + params['name'])(features)",
        "x = getattr(Net(3), 'net_' + params['name'])(features)",
    ],
)
def test_objects_that_are_not_seen(code: str, tmp_path: Path) -> None:
    assert "may make variables" in reasons(evaluate(tmp_path, NET + indented(code)))[0]


@pytest.mark.parametrize(
    "code",
    [
        "for net in [Net(size) for size in params]:\n    features = net(features)",
        "nets = [Net(size) for size in params]\nx = nets[-1](features)",
        "nets = [Net(size) for size in params]\nfor n in nets[1:]:\n    n(features)",
    ],
)
def test_objects_of_a_list(code: str, tmp_path: Path) -> None:
    found = evaluate(tmp_path, NET + indented(code))
    assert not reasons(found)
    (what,) = made(found)
    assert what.removeprefix("for/") == "Dense(?)"


def test_a_class_is_given_to_its_model_function(tmp_path: Path) -> None:
    head = "class Above(Net):\n    @classmethod\n    def model_fn(cls, a, b, mode):\n"
    found = evaluate(tmp_path, f"{NET_ALONE}{head}        return cls(3)(a)\n")
    assert made(found) == ["Dense(3)"]


def test_a_loop_of_the_graph_keeps_what_its_rounds_make(tmp_path: Path) -> None:
    again = "def again(x):\n    return tf.layers.dense(x, 3)\n"
    loop = "x = tf.while_loop(lambda x: True, again, [features])"
    found = body(tmp_path, again + loop)
    assert not reasons(found)
    assert "tf.while_loop" in {one.symbol for one in found.notes.made.values()}
    (kept,) = found.notes.handed
    assert not found.notes.makes(kept)
