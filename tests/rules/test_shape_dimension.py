"""Sizes of shapes, also in code that keeps its Estimator on the compat layer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import tensorflow as tf


def size(x):
    return x.get_shape()[-1].value


def model_fn(features, labels, mode):
    shape = features.get_shape()
    net = tf.layers.dense(features, size(features) + shape[1].value)
    width = tf.identity(net).shape[1].value
    print("width", width)
    loss = tf.reduce_mean(net) * width
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: None)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, scaffold=scaffold
    )


estimator = tf.estimator.Estimator(model_fn)
estimator.train(lambda: tf.data.Dataset.from_tensors(tf.ones((4, 3))), steps=1)
"""


def trained(folder: Path, program: str) -> str:
    """The rewritten program, which trains a step with the width it should have."""
    path = folder / "train.py"
    path.write_text(program, "utf-8")
    command = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty", str(path)]
    subprocess.run(command, check=False, capture_output=True)
    ran = subprocess.run(
        [sys.executable, str(path)], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "width 6" in ran.stdout
    return path.read_text("utf-8")


def test_an_estimator_that_stays_reads_sizes(tmp_path: Path) -> None:
    queue = "if x is None:\n        return tf.train.string_input_producer(['a.csv'])\n"
    program = PROGRAM.replace("    return x.get", f"    {queue}    return x.get")
    text = trained(tmp_path, program)
    assert "tfmigrate.compat.install()" in text
    assert text.count(".value") == 3  # shapes hold what they held
