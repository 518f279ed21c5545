"""One mode of a model function: its statements, and what its specification holds."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.code.tree import walk
from tfmigrate.model.in_mode import MODES, Called, InMode, Loose, Thing, in_mode
from tfmigrate.model.values import Const, Dict, Value
from tfmigrate.project.facts import ProjectFacts

HEAD = "import tensorflow as tf\n\n\n"
START = "def model_fn(features, labels, mode, params):\n"
LAYER = "    net = tf.layers.dense(features, 3)\n"


def gone_through(body: str, mode: str, head: str = HEAD) -> InMode:
    """The evaluation of a model function with such a body."""
    facts = ProjectFacts()
    parsed = facts.load(Path("program.py"), (head + START + body).encode())
    (defined,) = (
        node
        for node in walk(parsed.module)
        if isinstance(node, cst.FunctionDef) and node.name.value == "model_fn"
    )
    return in_mode(facts, parsed, defined, mode)


def lines(found: InMode) -> list[str]:
    """The source of the statements that are gone through."""
    plain = cst.Module([])
    return [plain.code_for_node(one).strip() for one in found.taken]


def field(found: InMode, name: str) -> Value:
    """What the specification was given under a name."""
    assert isinstance(found.result, Called)
    return next(o.value for o in found.result.arguments if o.keyword == name)


@pytest.mark.parametrize(
    "test",
    [
        "params['deep']",
        "params['deep'] or mode == tf.estimator.ModeKeys.TRAIN",
        "not params['deep']",
        "features is None",
        "mode == params['mode']",
        "DEEP",
    ],
)
def test_what_the_mode_does_not_decide_stays(test: str) -> None:
    body = (
        f"    if {test}:\n        net = 1\n    else:\n        net = 2\n    return net\n"
    )
    found = gone_through(body, "EVAL", f"{HEAD}DEEP = True\n")
    assert len(found.taken) == 2
    assert isinstance(found.taken[0], cst.If)
    assert found.unsure is None


def test_a_return_that_is_not_decided_is_told() -> None:
    found = gone_through(
        "    if params['x']:\n        return 1\n    return 2\n", "TRAIN"
    )
    assert isinstance(found.unsure, cst.Return)


def test_parts_of_a_line_are_not_taken_elsewhere() -> None:
    train = "mode == tf.estimator.ModeKeys.TRAIN"
    body = f"    if {train}: x = 1\n    return x\n"
    assert gone_through(body, "TRAIN").unsure is not None
    assert gone_through(body, "EVAL").unsure is None


@pytest.mark.parametrize(
    "test",
    [
        "mode == tf.estimator.ModeKeys.TRAIN",
        "tf.estimator.ModeKeys.TRAIN == mode",
        "mode is tf.contrib.learn.ModeKeys.TRAIN",
        "mode == 'train'",
        "mode in (tf.estimator.ModeKeys.TRAIN,)",
        "not mode != 'train'",
        "mode == 'train' and labels is not None",
        "not (mode == 'eval' or mode == tf.estimator.ModeKeys.PREDICT)",
        "keys.TRAIN == mode",
        "training(mode)",
        "training",
    ],
)
def test_the_mode_is_told_in_every_spelling(test: str) -> None:
    body = "    keys = tf.estimator.ModeKeys\n    training = mode == keys.TRAIN\n"
    if "(mode)" in test:
        body = "    def training(mode):\n        return mode == 'train'\n"
    body += f"    if {test}:\n        x = 1\n    else:\n        x = 2\n    return x\n"
    for mode in MODES:
        expected = "x = 1" if mode == "TRAIN" else "x = 2"
        assert lines(gone_through(body, mode))[-2:] == [expected, "return x"], mode


def test_labels_are_missing_in_prediction_only() -> None:
    body = "    if labels is None:\n        return 1\n    return 2\n"
    results = {mode: gone_through(body, mode).result for mode in MODES}
    assert results == {"TRAIN": Const(2), "EVAL": Const(2), "PREDICT": Const(1)}


def test_nothing_follows_a_return() -> None:
    body = (
        "    if mode == 'infer':\n        return 1\n    with tf.name_scope('x'):\n"
        "        y = 2\n    return y\n    y = 3\n"
    )
    assert lines(gone_through(body, "PREDICT")) == ["return 1"]
    assert lines(gone_through(body, "TRAIN")) == ["y = 2", "return y"]


def test_a_specification_is_known_by_its_values() -> None:
    body = f"""{LAYER}    kept = loss = tf.reduce_mean(net)
    optimizer = tf.train.AdamOptimizer(0.1)
    ops = {{"mean": tf.metrics.mean(net)}}
    step = tf.train.get_global_step()
    train_op = optimizer.minimize(kept, step) if mode == "train" else None
    return tf.estimator.EstimatorSpec(
        mode=mode, loss=loss, train_op=train_op, eval_metric_ops=ops)
"""
    found = gone_through(body, "TRAIN")
    train = field(found, "train_op")
    assert isinstance(train, Called)
    assert train.symbol == "tf.train.AdamOptimizer().minimize"
    assert train.owner is not None
    assert train.owner.symbol == "tf.train.AdamOptimizer"
    assert train.arguments[0].value is field(found, "loss")
    ops = field(found, "eval_metric_ops")
    assert isinstance(ops, Dict)
    assert isinstance(ops.items[0][1], Called)
    assert field(gone_through(body, "EVAL"), "train_op") == Const(None)


@pytest.mark.parametrize(
    "change",
    [
        "    loss += 1.0\n",
        "    loss = loss * 2.0\n",
        "    if params['x']:\n        loss = loss * 2.0\n",
        "    if params['x']:\n        loss += 1.0\n",
        "    for _ in range(params['x']):\n        loss += 1.0\n",
        "    loss, _ = tf.tuple([loss, loss])\n",
    ],
)
def test_a_tensor_that_may_be_another_is_not_the_same(change: str) -> None:
    body = f"{LAYER}    loss = tf.reduce_sum(net) / 2.0\n    before = loss\n{change}"
    body += (
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, predictions=before)\n"
    )
    found = gone_through(body, "TRAIN")
    assert isinstance(field(found, "loss"), Thing)
    assert field(found, "loss") is not field(found, "predictions")


@pytest.mark.parametrize(
    "made",
    [
        "{k: net for k in params}",
        "dict(zip(['a'], [net]))",
        "{'a': net}.copy()",
        "merged({'a': net}, {})",
    ],
)
def test_whether_something_is_a_dict_may_not_be_seen(made: str) -> None:
    head = HEAD + "def merged(one, other):\n    return dict(one, **other)\n\n\n"
    body = f"{LAYER}    return tf.estimator.EstimatorSpec(mode, predictions={made})\n"
    value = field(gone_through(body, "PREDICT", head), "predictions")
    assert isinstance(value, Loose) or not isinstance(value, (Dict, Thing))
