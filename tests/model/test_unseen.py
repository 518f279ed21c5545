"""Calls that are not followed: which, where what is called comes from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.model.evaluator import Evaluator

from .evaluating import HEAD, START, body, evaluate, made, reasons

NETS = {
    "nets": "def small(x):\n    return x\n\n\nsmall = [small][0]\n",
    "registry": "NETS = {}\n\n\ndef put(name, net):\n    NETS[name] = wrapped(net)\n",
}
HELD = """\
import nets
import other_package
import registry
from other_package.sub import layers as their


class Net:
    def __init__(self, embed, size=3):
        self.embed = embed
        self.size = size

    @their.memory
    def kept(self, x):
        return x


class Above(their.Base):
    pass


def build(net_fn, params):
    def model_fn(features, labels, mode):
        net = Net(params)
        chosen = getattr(params, params.name)
        {}

    return model_fn
"""


def passed(found: Evaluator) -> list[str]:
    """Why calls on tensors that are passed over might make layers."""
    return [one.reason for one in found.notes.passed.values()]


@pytest.mark.parametrize(
    "code",
    [
        # Methods of tensors, of what TensorFlow makes, of containers and texts.
        "x = features['x'].get_shape().as_list()\nx = '{}'.format(labels)",
        "rate = tf.train.AdamOptimizer(params['rate'])\nrate.minimize(labels)",
        "made = []\nmade.append(features)\nparams.get('x', features)",
        "rows = tf.TensorArray(tf.float32, 3).write(0, features).stack()",
        # No tensor goes in.
        "params['net'].prepare(mode)\nparams.net.load('weights')",
    ],
)
def test_calls_that_make_no_layers_are_not_told(code: str, tmp_path: Path) -> None:
    assert not passed(body(tmp_path, code))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "net.embed.rows(features)",
            "`net.embed.rows` is not followed: it is not seen what `net.embed` is",
        ),
        (
            "net_fn.build(features)",
            "no call that is seen says what `build` is given as `net_fn`",
        ),
        ("net.kept(features)", "the decorators of `kept` are not understood"),
        ("chosen.net(features)", "it comes of `getattr(params, params.name)`"),
    ],
)
def test_the_call_that_is_not_followed(code: str, why: str, tmp_path: Path) -> None:
    found = evaluate(tmp_path, HEAD + HELD.format(code), **NETS)
    (told,) = passed(found)
    assert told.startswith("no layers are seen, for `")
    assert why in told


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("their.dense(features)", "the package `other_package` is not among the files"),
        (
            "other_package.dense(features)",
            "the package `other_package` is not among the files",
        ),
        ("net_fn(features)", "no call that is seen says what `build` is given as `net"),
        ("chosen(features)", "it comes of `getattr(params, params.name)`"),
        ("params['a']['b'](features)", "it is an entry of `params['a']`, and not seen"),
        ("nets.small(features)", "`small` is not defined once, by name, in nets.py"),
        ("net(features)", "no `__call__` of the class `Net` is among the files"),
        ("Above()(features)", "no `__call__` of the class `Above` is among the files"),
        ("missing(features)", "it is not seen what `missing` is"),
    ],
)
def test_why_a_function_may_make_variables(code: str, why: str, tmp_path: Path) -> None:
    found = evaluate(tmp_path, HEAD + HELD.format(code), **NETS)
    told = reasons(found)[0]
    assert f" may make variables: {why}" in told


def test_what_calls_give_is_followed(tmp_path: Path) -> None:
    code = HEAD + HELD.format("net_fn(features)")
    code += (
        "\n\ndef small(x):\n    return tf.layers.dense(x, 1)\n\n\nbuild(small, {})\n"
    )
    found = evaluate(tmp_path, code, **NETS)
    assert not reasons(found)
    assert made(found)


def test_apply_is_a_call_of_the_layer(tmp_path: Path) -> None:
    code = f"{HEAD}class Own(tf.layers.Dense):\n    pass\n\n\n{START[len(HEAD) :]}"
    found = evaluate(tmp_path, f"{code}    return Own(3).apply(features)\n")
    assert made(found) == ["call(?, ?)"]
    assert not passed(found)
