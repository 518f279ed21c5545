"""`rewrite --strategy`: what programs that become native train on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''\
"""program.py MODEL_DIR"""

import sys

import numpy as np
import tensorflow as tf


def input_fn():
    x = np.arange(24, dtype=np.float32).reshape(12, 2) / 24
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True)))
    return data.repeat().batch(4)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": net})
    loss = tf.losses.mean_squared_error(labels, net)
    optimizer = tf.train.GradientDescentOptimizer(0.3)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


MADE
estimator.train(input_fn, steps=100)
print("FIGURES", estimator.evaluate(lambda: input_fn().take(3))["loss"])
'''
BARE = "estimator = tf.estimator.Estimator(model_fn, sys.argv[1])"
MIRRORED = (
    "strategy = tf.contrib.distribute.MirroredStrategy()\n"
    "config = tf.estimator.RunConfig(sys.argv[1], train_distribute=strategy)\n"
    "estimator = tf.estimator.Estimator(model_fn, config=config)"
)


def rewrite(folder: Path, made: str, strategy: str) -> tuple[str, str]:
    """The program after a rewrite, and what the command printed."""
    program = folder / "program.py"
    program.write_text(PROGRAM.replace("MADE", made), "utf-8")
    printed = tfmigrate(folder, "rewrite", "--allow-dirty", "--strategy", strategy, ".")
    return program.read_text("utf-8"), printed


def tfmigrate(folder: Path, *words: str) -> str:
    """What the command prints, run in a folder."""
    command = [sys.executable, "-m", "tfmigrate", *words]
    done = subprocess.run(
        command, cwd=folder, env=os.environ, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.parametrize(
    ("strategy", "named"),
    [
        ("mirrored", "MirroredStrategy()"),
        ("central", "experimental.CentralStorageStrategy()"),
        ("multiworker", "MultiWorkerMirroredStrategy()"),
    ],
)
def test_an_estimator_without_a_configuration_gets_one(
    tmp_path: Path, strategy: str, named: str
) -> None:
    text, _ = rewrite(tmp_path, BARE, strategy)
    made = "".join(text.split())
    assert f"sys.argv[1],config=RunConfig(strategy=tf.distribute.{named})" in made


def test_another_strategy_takes_the_place_of_the_programs_own(tmp_path: Path) -> None:
    text, _ = rewrite(tmp_path, MIRRORED, "central")
    assert "CentralStorageStrategy()" in text
    assert "MirroredStrategy" not in text


def test_default_takes_the_strategy_out(tmp_path: Path) -> None:
    text, _ = rewrite(tmp_path, MIRRORED, "default")
    assert "RunConfig(sys.argv[1])" in text
    assert "trategy" not in text + (tmp_path / "training.py").read_text("utf-8")


def test_keep_leaves_it(tmp_path: Path) -> None:
    text, _ = rewrite(tmp_path, MIRRORED, "keep")
    assert "tf.distribute.MirroredStrategy()" in text


def test_a_configuration_from_elsewhere_keeps_the_program(tmp_path: Path) -> None:
    made = "from settings import config\n\n"
    made += "estimator = tf.estimator.Estimator(model_fn, config=config)"
    text, printed = rewrite(tmp_path, made, "mirrored")
    assert "finds no `tf.estimator.RunConfig(...)` to put it in" in printed
    assert "tf.estimator.Estimator" in text


@pytest.mark.timeout(900)
def test_a_program_of_one_device_trains_on_two_workers_and_alone(
    tmp_path: Path,
) -> None:
    rewrite(tmp_path, BARE, "multiworker")
    alone = subprocess.run(
        [sys.executable, "program.py", "alone"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert alone.returncode == 0, alone.stderr[-3000:]
    together = tfmigrate(tmp_path, "launch", "--workers", "2", "program.py", "both")
    losses = re.findall(r"FIGURES (\S+)", alone.stdout + together)
    assert len(losses) == 3
    assert all(float(loss) < 1e-6 for loss in losses)
