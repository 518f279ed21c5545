"""A strategy that names devices which are not there stops at once, and says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .test_continued import run

PROGRAM = """\
import os

import tensorflow as tf


def model_fn(features, labels, mode):
    y = LAYER(features, 1)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors(([[1.0, 2.0]], [[3.0]])).repeat(8)


strategy = STRATEGY
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.Estimator(model_fn, os.environ["MODEL_DIR"], config)
estimator.train(data, steps=2)
print("trained on", strategy.num_replicas_in_sync)
"""
LAYERS = "tf.layers.dense"
# The model_fn is kept: nothing says what this is.
KEPT = "[tf.layers.dense][0]"


def rewritten(folder: Path, strategy: str, layer: str) -> str:
    text = PROGRAM.replace("STRATEGY", strategy).replace("LAYER", layer)
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate", "rewrite", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tf.estimator" not in done.stdout, done.stderr
    path = folder / "program.py"
    path.write_text(done.stdout, "utf-8")
    return str(path)


@pytest.mark.parametrize("layer", [LAYERS, KEPT], ids=["layers", "kept"])
@pytest.mark.parametrize(
    "strategy",
    [
        'tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])',
        "tf.contrib.distribute.MirroredStrategy(num_gpus=2)",
    ],
    ids=["devices", "num_gpus"],
)
def test_missing_gpus_end_the_program(
    strategy: str, layer: str, tmp_path: Path
) -> None:
    program = rewritten(tmp_path, strategy, layer)
    done = run(program, MODEL_DIR=str(tmp_path / "model"))
    assert done.returncode == 1
    # A loop in place says what there is, the loop module what to do instead.
    told = "is not on this machine", "ValueError: The strategy names devices"
    (line,) = (x for x in done.stderr.splitlines() if any(t in x for t in told))
    assert "GPU:0" in line
    assert "/device:CPU:0" in line or "takes what is there" in line


def test_all_gpus_are_those_that_there_are(tmp_path: Path) -> None:
    program = rewritten(tmp_path, "tf.distribute.MirroredStrategy()", LAYERS)
    done = run(program, MODEL_DIR=str(tmp_path / "model"))
    assert done.returncode == 0, done.stderr
    assert "trained on 1" in done.stdout
