"""What becomes of model functions that an evaluation understands, and of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.code.blocked import Blocked
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.layers import bodies, together

HEAD = "import tensorflow as tf\n\n\n"
BLOCK = (
    "def block(x, units):\n    with tf.variable_scope('block'):\n"
    "        return tf.layers.dense(x, units)\n"
)
TAIL = """\
    loss = tf.losses.mean_squared_error(labels, net)
    step = tf.train.get_global_step()
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, params={"units": 3})
estimator.train(data, steps=3)
"""


def program(code: str) -> str:
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    return f"def model_fn(features, labels, mode, params):\n{lines}{TAIL}"


def lift(folder: Path, **files: str) -> tuple[dict[str, str], list[str]]:
    """The texts of lifted files, and why model functions are kept."""
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(text, "utf-8")
    facts = ProjectFacts(tuple(paths))
    parsed = [facts.load(path, path.read_bytes()) for path in paths]
    try:
        found = together.lifted_together(parsed, facts)
    except Blocked as stop:
        return files, [stop.reason]
    return {one.path.stem: one.source.text for one in found}, []


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("net = params['net'](features)", "`params['net']` may make variables"),
        (
            "net = [f for f in [tf.layers.dense(features, 1)] if f is not None]",
            "layers in a comprehension that is not plain",
        ),
        (
            "net = {tf.layers.dense(features, 1) for f in params}",
            "layers in a function inside of this one",
        ),
        (
            "for one in features:\n    net = tf.layers.Dense(1)(one)",
            "an object with variables in a loop over tensors",
        ),
        (
            "net = [tf.layers.dense(one, 1) for one in features][0]",
            "`tf.layers.dense` makes variables where it is called",
        ),
        (
            "net = tf.nn.rnn_cell.GRUCell(2)(features, features)[0]",
            "makes variables where it is called",
        ),
        (
            "net = list(map(lambda x: tf.layers.dense(x, 1), [features]))[0]",
            "layers in a lambda",
        ),
        (
            "net = tf.cond(labels, lambda: tf.layers.dense(features, 1), lambda: 1)",
            "layers in a function that `tf.cond` calls",
        ),
        (
            "net = block(tf.layers.Dense(3)(features), len(labels))\n"
            "net = tf.layers.Dense(net.shape[-1])(net)",
            "a layer depends on",
        ),
        (
            "net = tf.keras.layers.LSTM(3, dropout=0.5)(features)",
            "`dropout=0.5` of a layer of Keras",
        ),
    ],
)
def test_what_is_kept_says_why(code: str, reason: str, tmp_path: Path) -> None:
    text = f"{HEAD}{BLOCK}\n\n{program(code)}"
    texts, left = lift(tmp_path, program=text)
    assert texts["program"] == text
    assert reason in left[0]


def test_a_method_that_keeps_tensors_keeps_them(tmp_path: Path) -> None:
    code = (
        "class Net:\n    def model_fn(self, features, labels, mode):\n"
        "        self.net = tf.layers.dense(features, 3)\n"
        "        loss = tf.losses.mean_squared_error(labels, self.net)\n"
        "        return tf.estimator.EstimatorSpec(mode, loss=loss)\n"
    )
    texts, left = lift(tmp_path, program=HEAD + code)
    assert not left
    assert "self.owner.net = self.dense(features)" in texts["program"]
    assert "model = Model(self)\n        model(features)\n" in texts["program"]


def test_plain_values_among_the_layers_are_read_behind_them(tmp_path: Path) -> None:
    code = (
        "with tf.variable_scope('towers'):\n"
        "    net = tf.layers.dense(features, 3)\n"
        "    # of each task\n"
        "    names = params['names']\n"
        "    nets = [tf.layers.dense(net, 1, name=name) for name in names]\n"
        "for name, one in zip(names, nets):\n"
        "    tf.summary.scalar(name, one)\n"
        "net = nets[0]"
    )
    texts, left = lift(tmp_path, program=f"{HEAD}{program(code)}")
    assert not left
    _, _, kept = texts["program"].partition("def model_fn")
    assert "    names = params['names']\n    model = Model(" in kept


METHODS = """\
class Net:
    def __init__(self, units):
        self.units = units

    def change(self):
        self.units = 5

    def __call__(self, x):
{}
        return x


"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "        x = tf.layers.dense(x, 1)\n        self.units = 4\n"
            "        x = tf.layers.Dense(self.units)(x)",
            "a layer depends on `self.units`, which changes",
        ),
        (
            "        x = tf.layers.dense(x, 1)\n        self.change()\n"
            "        x = tf.layers.Dense(self.units)(x)",
            "a layer depends on `self.units`, which changes",
        ),
        (
            "        x = self(tf.layers.dense(x, 1))",
            "a function with layers that calls itself",
        ),
        (
            "        for i in range(2):\n            x = self.more(x)\n"
            "            y = tf.layers.dense(y if i else x, 1)\n",
            "`y` is kept from round to round",
        ),
    ],
)
def test_methods_that_are_kept_say_why(body: str, reason: str, tmp_path: Path) -> None:
    more = "    def more(self, x):\n        return tf.layers.dense(x, 2)\n\n\n"
    code = program("net = Net(params['units'])(features)")
    text = f"{HEAD}{METHODS.format(body).rstrip()}\n\n{more}{code}"
    _, left = lift(tmp_path, program=text)
    (why,) = left
    assert reason in why


def test_methods_call_models_where_they_stand(tmp_path: Path) -> None:
    body = (
        "        for size in (2, self.units):\n"
        "            x = tf.layers.dense(x, size)  # each"
    )
    code = program("net = Net(params['units'])(features)")
    texts, left = lift(tmp_path, program=HEAD + METHODS.format(body) + code)
    assert not left
    text = texts["program"]
    assert "class NetModel(tf.estimator.ScopedModel):" in text
    assert "        model = NetModel(self)\n        x = model(x)\n" in text
    assert "for size in (2, owner.units):" in text


def test_a_helper_of_another_file_becomes_a_class_there(tmp_path: Path) -> None:
    code = "net = block(features, params['units'])"
    text = f"{HEAD}from blocks import block\n\n\n{program(code)}"
    texts, left = lift(tmp_path, program=text, blocks=HEAD + BLOCK)
    assert not left
    assert "from blocks import Block\n" in texts["program"]
    assert 'self.block = Block(units=params["units"])' in texts["program"].replace(
        "'", '"'
    )
    assert "def block" not in texts["blocks"]
    assert "class Block(tf.estimator.ScopedLayer):" in texts["blocks"]


def test_a_helper_that_others_use_stays_beside_its_class(tmp_path: Path) -> None:
    code = "net = block(features, params['units'])"
    text = f"{HEAD}from blocks import block\n\n\n{program(code)}"
    more = "\n\ndef twice(x):\n    return block(block(x, 1), 2)\n"
    texts, left = lift(tmp_path, program=text, blocks=HEAD + BLOCK + more)
    assert not left
    assert "def block(x, units):" in texts["blocks"]
    assert "class Block(tf.estimator.ScopedLayer):" in texts["blocks"]


def test_layers_of_a_comprehension_are_a_list(tmp_path: Path) -> None:
    code = (
        "nets = [tf.layers.dense(features, n, name='n%d' % i)\n"
        "        for i, n in enumerate(params['sizes'])]\n"
        "net = tf.layers.dense(tf.concat(nets, 1), 1)"
    )
    texts, left = lift(tmp_path, program=HEAD + program(code))
    assert not left
    text = " ".join(texts["program"].split())
    assert (
        "self.n_layers = [] for i, n in enumerate(params['sizes']): "
        "self.n_layers.append(tf.keras.layers.Dense(n, name='n%d' % i))" in text
    )
    assert "for (i, n), n_ in zip(enumerate(self.params['sizes']), self.n_layers)" in (
        text
    )


def test_layers_of_a_dict_by_comprehension_are_a_list(tmp_path: Path) -> None:
    code = (
        "nets = {name: tf.layers.dense(features, 3) for name in params['names']}\n"
        "net = tf.layers.dense(tf.concat([nets['a'], nets['b']], 1), 1)"
    )
    texts, left = lift(tmp_path, program=HEAD + program(code))
    assert not left
    text = " ".join(texts["program"].split())
    assert "for name, dense_ in zip(self.params['names'], self.dense_layers)}" in text
    keys = "nets = {tf.layers.dense(features, 3): name for name in params['names']}\n"
    _, left = lift(tmp_path, program=HEAD + program(keys + "net = features"))
    assert left


@pytest.mark.parametrize("given", ["is None", "is not None", "== None"])
def test_whether_a_function_with_layers_is_given(given: str, tmp_path: Path) -> None:
    code = (
        "def block(x, shortcut):\n"
        f"    side = shortcut(x) if False else x\n    if shortcut {given}:\n"
        "        side = x + tf.layers.dense(x, 3)\n"
        "    return tf.layers.dense(x, 3) + side\n\n\n"
    )
    inner = (
        "def projected(x):\n    return tf.layers.dense(x, 3)\n"
        "net = block(features, projected)\nnet = block(net, None)"
    )
    _, left = lift(tmp_path, program=HEAD + code + program(inner))
    assert bool(left) == given.startswith("==")


def test_keras_layers_are_made_by_the_class(tmp_path: Path) -> None:
    code = "net = tf.keras.layers.Dropout(0.5)(tf.keras.layers.Dense(3)(features))"
    texts, left = lift(tmp_path, program=HEAD + program(code))
    assert not left
    assert "self.dense = tf.keras.layers.Dense(3)" in texts["program"]
    assert "self.dropout(self.dense(features), training=False)" in texts["program"]


def test_layers_of_a_model_of_keras_stay(tmp_path: Path) -> None:
    code = "net = tf.keras.Sequential([tf.keras.layers.Dense(3)])(features)"
    text = HEAD + program(code)
    texts, left = lift(tmp_path, program=text)
    assert not left
    assert texts["program"] == text


def test_what_would_make_other_variables_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "net = block(features, 4)\nnet = tf.layers.dense(net, 3, name='last')"
    text = f"{HEAD}from blocks import block\n\n\n{program(code)}"

    def wrong(body: bodies.Body) -> bodies.Taken:
        taken = take(body)
        taken.init[:] = [line.replace("3", "5") for line in taken.init]
        return taken

    take = bodies.Body.take
    monkeypatch.setattr(bodies.Body, "take", wrong)
    texts, left = lift(tmp_path, program=text, blocks=HEAD + BLOCK)
    assert texts["program"] == text
    told = (
        "cannot be proved to be the same from `tf.layers.dense(net, 3, name='last')` of"
    )
    assert f"{told} program.py on" in left[0]


def test_a_name_of_two_loops_is_no_parameter(tmp_path: Path) -> None:
    code = (
        "net = features\n"
        "for i in range(2):\n    net = tf.layers.dense(net, 3, name='a_%d' % i)\n"
        "tf.summary.scalar('mean', net)\n"
        "if mode == tf.estimator.ModeKeys.PREDICT:\n"
        "    return tf.estimator.EstimatorSpec(mode, predictions=net)\n"
        "for i in range(3):\n    net = tf.layers.dense(net, 3, name='b_%d' % i)"
    )
    texts, left = lift(tmp_path, program=HEAD + program(code))
    assert not left
    assert texts["program"].count("def __init__(self):") == 2


def test_penalties_of_an_object_are_made_within_its_class(tmp_path: Path) -> None:
    code = (
        "one = tf.layers.Dense(3, kernel_regularizer=tf.keras.regularizers.l2(0.1))\n"
        "net = one(features) + one(features * 0.5)\n"
        "{}net = tf.nn.relu(net)"
    )
    made = "def inner(x):\n    return tf.layers.dense(x, 3)\n\nnet = inner(net)\n"
    texts, left = lift(tmp_path, program=HEAD + program(code.format(made)))
    assert not left
    assert "return one(features) + one(features * 0.5)" in (texts["program"])
    early = "if mode == tf.estimator.ModeKeys.PREDICT:\n    return one(features)\n"
    text = HEAD + program(code.replace("net = one", f"{early}net = one").format(""))
    texts, left = lift(tmp_path, program=text)
    assert texts["program"] == text
    assert "cannot be proved to be the same from `one(features)`" in left[0]


def test_a_table_of_functions_that_call_each_other_by_it_is_not_followed_for_ever(
    tmp_path: Path,
) -> None:
    """Each of its parts may call each: there are more ways than atoms."""
    parts = [
        f"def part_{i}(x, params):\n"
        f"    x = PARTS[params['first_{i}']](x, params)\n"
        f"    return PARTS[params['second_{i}']](tf.layers.dense(x, {i + 1}), params)\n"
        for i in range(12)
    ]
    table = ", ".join(f"'{i}': part_{i}" for i in range(12))
    table = f"\n\nPARTS = {{{table}}}\n\n\n"
    code = program("net = PARTS[params['net']](features, params)")
    text = HEAD + "\n\n".join(parts) + table + code
    texts, (why,) = lift(tmp_path, program=text)
    assert texts == {"program": text}
    assert "it calls too much code" in why or "that calls itself" in why


def test_helpers_that_each_call_the_next_one_twice_are_not_followed_for_ever(
    tmp_path: Path,
) -> None:
    """Thirty functions are soon read, the layers that they make are never counted."""
    parts = [
        f"def part_{i}(x):\n    return part_{i + 1}(x) + part_{i + 1}(x)\n"
        for i in range(30)
    ]
    parts.append("def part_30(x):\n    return tf.layers.dense(x, 1)\n")
    text = HEAD + "\n\n".join(parts) + "\n\n" + program("net = part_0(features)")
    texts, (why,) = lift(tmp_path, program=text)
    assert texts == {"program": text}
    assert "it calls too much code" in why


def test_a_chain_that_is_too_deep_is_not_taken_for_one_without_layers(
    tmp_path: Path,
) -> None:
    parts = [f"def part_{i}(x):\n    return part_{i + 1}(x)\n" for i in range(50)]
    parts.append("def part_50(x):\n    return tf.layers.dense(x, 1)\n")
    net = "net = tf.layers.dense(part_0(features), 1)"
    text = HEAD + "\n\n".join(parts) + "\n\n" + program(net)
    texts, (why,) = lift(tmp_path, program=text)
    assert texts == {"program": text}
    assert "it calls too much code" in why
