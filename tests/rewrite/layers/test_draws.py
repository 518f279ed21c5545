"""Starts of variables that one generator draws: each gets what TensorFlow 1 gave it."""

from __future__ import annotations

from pathlib import Path

from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.layers.together import lifted_together

PROGRAM = """\
import itertools
import json
import random

import numpy as np
import tensorflow as tf

COUNT = itertools.count(1)
SHARED = np.random.RandomState(7)


def constant(value):
    return tf.constant_initializer(value)


def next_shared():
    return constant(SHARED.randn())


def block(x, draw):
    with tf.variable_scope("block"):
        w = tf.get_variable("w", [2], initializer=constant(draw.randn()))
        x = tf.layers.dense(x * w, 2, kernel_initializer=constant(draw.randn()))
        v = tf.get_variable("v", [2], initializer=constant(draw.randn()))
    return x * v


def model_fn(features, labels, mode, params):
    draw = np.random.RandomState(3)
    with tf.variable_scope("plain"):
        w = tf.get_variable("w", [2], initializer=constant(draw.randn()))
        x = tf.layers.dense(
            features["x"] * w, 2, kernel_initializer=constant(draw.randn()))
        x = x * tf.get_variable("v", [2], initializer=constant(draw.randn()))
    x = block(x, draw)
    with tf.variable_scope("held"):
        early = draw.uniform()
        w = tf.get_variable("w", [2], initializer=constant(draw.randn()))
        x = tf.layers.dense(x * w, 2, kernel_initializer=constant(early))
    for number in range(2):
        with tf.variable_scope("loop_%d" % number):
            w = tf.get_variable("w", [2], initializer=constant(draw.randn()))
            x = tf.layers.dense(x * w, 2, kernel_initializer=constant(draw.randn()))
    with tf.variable_scope("counted"):
        w = tf.get_variable("w", [2], initializer=constant(next(COUNT)))
        x = tf.layers.dense(x * w, 2, kernel_initializer=constant(next(COUNT)))
    with tf.variable_scope("function"):
        w = tf.get_variable("w", [2], initializer=next_shared())
        x = tf.layers.dense(x * w, 2, kernel_initializer=next_shared())
    loss = tf.losses.mean_squared_error(labels, x)
    optimizer = tf.train.GradientDescentOptimizer(0.0)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors(({"x": [[1.0, 2.0]]}, [[1.0, 1.0]]))


if __name__ == "__main__":
    estimator = tf.estimator.Estimator(model_fn, "trained", params={})
    estimator.train(data)
    names = [n for n in estimator.get_variable_names() if n.count("/") > 0]
    found = {n: float(np.mean(estimator.get_variable_value(n))) for n in names}
    print("FOUND", json.dumps(found))
"""


def test_draws_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, "utf-8")
    facts = ProjectFacts((path,))
    (found,) = lifted_together([facts.load(path, path.read_bytes())], facts)
    code = " ".join(found.source.text.split())
    made = code[code.index("class ") : code.index("def model_fn")]
    places = [made.index(f'"{name}"') for name in ("plain", "held", "counted")]
    assert places == sorted(places)
