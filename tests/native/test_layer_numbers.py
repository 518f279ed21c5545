"""Plain classes compute what the networks of TensorFlow 1.15.5 computed.

Each network of `fixtures/oracle/layers` is lifted and made plain, gets the recorded
weights, and has to give the recorded outputs, penalties and moving averages.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.layers.together import lifted_together
from tfmigrate.rewrite.native.classes import plain_classes
from tfmigrate.training import cells, layers

RECORDED = Path(__file__).parents[2] / "fixtures" / "oracle" / "layers"
sys.path.insert(0, str(RECORDED))
from networks import FIRST, NETWORKS  # noqa: E402

PROGRAM = """\
import tensorflow as tf

layers = tf.contrib.layers
slim = tf.contrib.slim
{helpers}


def model_fn(features, labels, mode):
    x = features
    is_training = mode == tf.estimator.ModeKeys.TRAIN
{body}
    loss = tf.reduce_mean(net)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, predictions=net, loss=loss, train_op=train_op)


def main():
    tf.estimator.Estimator(model_fn).train(input_fn)
"""
# What TensorFlow 1 and Keras call weights of the same kind.
KINDS = {
    "weights": "kernel",
    "biases": "bias",
    "depthwise_weights": "depthwise_kernel",
    "pointwise_weights": "pointwise_kernel",
    "embeddings": "table",
}


def built(network: str) -> tuple[str, dict[str, Any]]:
    """The module that a network becomes, and its classes."""
    parts = [ast.unparse(one) for one in ast.parse(network).body]
    helpers = [one for one in parts if one.startswith("def ")]
    body = "\n".join(one for one in parts if one not in helpers)
    code = PROGRAM.format(helpers="\n".join(helpers), body=indent(body, " " * 4))
    facts = ProjectFacts()
    parsed = facts.load(Path("train.py"), code.encode())
    (lifted,) = lifted_together([parsed], facts)
    text = plain_classes(lifted, facts).source.text
    print(text)
    text = text.replace("tf.random_normal(", "tf.random.normal(")
    tree = ast.parse(text)
    names: dict[str, Any] = {"tf": tf, "tf_keras": tf_keras}
    names |= {**vars(cells), **vars(layers)}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name not in (
            "model_fn",
            "main",
        ):
            exec(compile(ast.Module([node], []), "train.py", "exec"), names)
    return text, names


def run(text: str, names: dict[str, Any], x: Any, training: bool) -> tuple[Any, Any]:
    """The output of the model function's network, and its models, which are kept."""
    (function,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == "model_fn"
    )
    within = {**names, "features": tf.constant(x), "is_training": training}
    for node in function.body:
        code = ast.unparse(node)
        target, _, value = code.partition(" = ")
        made = isinstance(names.get(value.partition("(")[0]), type)
        if target in ("is_training", "loss", "train_op") or code.startswith("return"):
            continue
        if not made or target not in names:
            exec(code, within)
        if made:
            names[target] = within[target]
    models = [one for one in names.values() if isinstance(one, tf_keras.Model)]
    return within["net"], models


def kind_of(name: str) -> str:
    """The kind of a weight by its name."""
    last = name.rpartition("/")[2].partition(":")[0]
    last = last.removeprefix("gates_").removeprefix("candidate_")
    return KINDS.get(last, last)


def by_kind(names: list[str]) -> list[int]:
    """Places of weights, those of a kind together."""
    return sorted(range(len(names)), key=lambda place: (kind_of(names[place]), place))


def recorded(kind: str, name: str) -> Any:
    with (RECORDED / "recorded.json").open() as file:
        return json.load(file)[kind][name]


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_a_network_computes_what_it_did(name: str) -> None:
    known = recorded("networks", name)
    text, names = built(NETWORKS[name][1])
    x = np.asarray(known["input"], np.int32 if name == "embedded" else np.float32)
    _, models = run(text, names, x, False)
    weights = [one for model in models for one in model.weights]
    old = by_kind([one for one, _ in known["weights"]])
    new = by_kind([one.name for one in weights])
    assert len(old) == len(new)
    for before, after in zip(old, new, strict=True):
        weights[after].assign(known["weights"][before][1])
    for key, training in (("inference", False), ("training", True)):
        output, _ = run(text, names, x, training)
        np.testing.assert_allclose(
            output, known["outputs"][key], rtol=2e-5, atol=2e-6, err_msg=key
        )
    penalty = sum(float(one) for model in models for one in model.losses)
    assert penalty == pytest.approx(known["penalty"], rel=1e-6)
    for before, after in zip(old, new, strict=True):
        np.testing.assert_allclose(
            weights[after],
            known["after"][before],
            rtol=2e-5,
            atol=2e-6,
            err_msg=known["weights"][before][0],
        )


@pytest.mark.parametrize("name", sorted(FIRST))
def test_weights_begin_as_they_did(name: str) -> None:
    """Mean, deviation and bounds of thousands of first values, one by one."""
    known = recorded("first_values", name)
    text, names = built(FIRST[name][1])
    tf_keras.utils.set_random_seed(1)
    shape = FIRST[name][0]
    x = np.zeros(shape[:-1], np.int32) if name == "embedded" else np.zeros(shape)
    _, models = run(text, names, x, False)
    weights = [one for model in models for one in model.weights]
    old = by_kind([one for one, _ in known])
    new = by_kind([one.name for one in weights])
    assert len(old) == len(new)
    for before, after in zip(old, new, strict=True):
        of, (mean, deviation, least, most) = known[before]
        value = weights[after].numpy()
        assert value.std() == pytest.approx(deviation, rel=0.02, abs=1e-7), of
        assert value.mean() == pytest.approx(mean, abs=0.08 * deviation + 1e-7), of
        spread = most - least
        if deviation and spread < 5 * deviation:
            # The bounds are those of the distribution.
            assert value.max() - value.min() == pytest.approx(spread, rel=0.02), of
