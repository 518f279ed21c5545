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
from tfmigrate.lift.together import lifted_together
from tfmigrate.native.classes import plain_classes
from tfmigrate.project.facts import ProjectFacts

RECORDED = Path(__file__).parents[2] / "fixtures" / "oracle" / "layers"
sys.path.insert(0, str(RECORDED))
from networks import NETWORKS  # noqa: E402

PROGRAM = """\
import tensorflow as tf

layers = tf.contrib.layers
slim = tf.contrib.slim


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


def built(name: str) -> tuple[Any, Any]:
    """The class that a network becomes, and the call of its object."""
    code = PROGRAM.format(body=indent(NETWORKS[name][1].strip(), " " * 4))
    facts = ProjectFacts()
    parsed = facts.load(Path("train.py"), code.encode())
    (lifted,) = lifted_together([parsed], facts)
    assert lifted.made == ["model_fn"], lifted.left
    text = plain_classes(lifted.parsed, facts).source.text
    print(text)
    text = text.replace("tf.random_normal(", "tf.random.normal(")
    tree = ast.parse(text)
    names: dict[str, Any] = {"tf": tf, "tf_keras": tf_keras}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name not in (
            "model_fn",
            "main",
        ):
            exec(compile(ast.Module([node], []), name, "exec"), names)
    return text, names


def run(text: str, names: dict[str, Any], x: Any, training: bool) -> tuple[Any, Any]:
    """The output of the model function's network, and its model."""
    (function,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == "model_fn"
    )
    within = {**names, "features": tf.constant(x), "is_training": training}
    if "model" in names:
        within["model"] = names["model"]
    for node in function.body:
        code = ast.unparse(node)
        if code.startswith(("is_training =", "loss =", "train_op =", "return")):
            continue
        if code.startswith("model =") and "model" in names:
            continue
        exec(code, within)
    return within["net"], within["model"]


def kind_of(name: str) -> str:
    """The kind of a weight by its name."""
    last = name.rpartition("/")[2].partition(":")[0]
    return KINDS.get(last, last)


def by_kind(names: list[str]) -> list[int]:
    """Places of weights, those of a kind together."""
    return sorted(range(len(names)), key=lambda place: (kind_of(names[place]), place))


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_a_network_computes_what_it_did(name: str) -> None:
    with (RECORDED / "recorded.json").open() as file:
        recorded = json.load(file)[name]
    text, names = built(name)
    kind = np.int32 if name == "embedded" else np.float32
    x = np.asarray(recorded["input"], kind)
    _, model = run(text, names, x, False)
    names["model"] = model
    old = by_kind([one for one, _ in recorded["weights"]])
    layers = [*model.submodules]
    assert layers
    weights = model.weights
    new = by_kind([one.name for one in weights])
    assert len(old) == len(new)
    for before, after in zip(old, new, strict=True):
        weights[after].assign(recorded["weights"][before][1])
    for key, training in (("inference", False), ("training", True)):
        output, _ = run(text, names, x, training)
        np.testing.assert_allclose(
            output, recorded["outputs"][key], rtol=2e-5, atol=2e-6, err_msg=key
        )
    penalty = sum(map(float, model.losses))
    assert penalty == pytest.approx(recorded["penalty"], rel=1e-6)
    for before, after in zip(old, new, strict=True):
        np.testing.assert_allclose(
            weights[after],
            recorded["after"][before],
            rtol=2e-5,
            atol=2e-6,
            err_msg=recorded["weights"][before][0],
        )
