"""Starts of variables that one generator draws: each gets what TensorFlow 1 gave it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.rewriting.pipeline import Job

from ..around.here import run_here

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


def own(seed):
    draw = np.random.RandomState(seed)
    return constant(draw.randn())


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
    with tf.variable_scope("own"):
        x = tf.layers.dense(x, 2, kernel_initializer=own(5))
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


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program as layers of Keras."""
    folder = tmp_path_factory.mktemp("drawn")
    path = folder / "program.py"
    path.write_text(PROGRAM, "utf-8")
    report = run_here([path], Job(RewriteOptions()))
    (tier,) = {r.program.tier.value for r in report.results if r.program}
    assert tier == "T1"
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)
    return folder


def test_draws_are_in_the_order_of_the_file(rewritten: Path) -> None:
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=rewritten,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = (one for one in done.stdout.splitlines() if one.startswith("FOUND "))
    found = json.loads(line.removeprefix("FOUND "))
    draw, shared = np.random.RandomState(3), np.random.RandomState(7)
    wanted = {name: draw.randn() for name in ("plain/w", "plain/kernel", "plain/v")}
    wanted |= {name: draw.randn() for name in ("block/w", "block/kernel", "block/v")}
    wanted["held/kernel"] = draw.uniform()
    wanted["held/w"] = draw.randn()
    for number in range(2):
        wanted[f"loop_{number}/w"] = draw.randn()
        wanted[f"loop_{number}/kernel"] = draw.randn()
    wanted |= {"counted/w": 1, "counted/kernel": 2}
    wanted |= {"function/w": shared.randn(), "function/kernel": shared.randn()}
    wanted["own/kernel"] = np.random.RandomState(5).randn()
    named = {n.replace("dense/", ""): v for n, v in found.items() if "bias" not in n}
    assert named == pytest.approx(wanted, rel=1e-6)


def test_what_draws_for_itself_alone_stays_a_layer_of_keras(rewritten: Path) -> None:
    code = rewritten.joinpath("program.py").read_text("utf-8")
    assert "Dense(2, kernel_initializer=own(5))" in " ".join(code.split())
