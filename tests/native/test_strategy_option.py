"""`rewrite --strategy`: what programs that become native train on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Runner = Callable[..., "subprocess.CompletedProcess[str]"]
Rewrite = Callable[[str, str], "tuple[str, str]"]

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


@pytest.fixture
def rewrite(tmp_path: Path, tfmigrate: Runner) -> Rewrite:
    """`rewrite(made, strategy)`: the new program, and what the command printed."""

    def rewritten(made: str, strategy: str) -> tuple[str, str]:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.replace("MADE", made), "utf-8")
        options = ("--allow-dirty", "--strategy", strategy)
        done = tfmigrate("rewrite", *options, ".", cwd=tmp_path)
        assert done.returncode in (0, 1), (done.stdout + done.stderr)[-3000:]
        return program.read_text("utf-8"), done.stdout

    return rewritten


@pytest.mark.parametrize(
    ("strategy", "named"),
    [
        ("mirrored", "MirroredStrategy()"),
        ("one_device", 'OneDeviceStrategy("/gpu:0")'),
        ("central", "experimental.CentralStorageStrategy()"),
        ("multiworker", "MultiWorkerMirroredStrategy()"),
        ("tpu", "tpu_strategy()"),
    ],
)
def test_an_estimator_without_a_configuration_gets_one(
    rewrite: Rewrite, strategy: str, named: str
) -> None:
    text, _ = rewrite(BARE, strategy)
    made = "".join(text.split())
    home = "" if strategy == "tpu" else "tf.distribute."
    assert f"sys.argv[1],config=RunConfig(strategy={home}{named})" in made


def test_another_strategy_takes_the_place_of_the_programs_own(rewrite: Rewrite) -> None:
    text, _ = rewrite(MIRRORED, "central")
    assert "CentralStorageStrategy()" in text
    assert "MirroredStrategy" not in text


def test_default_takes_the_strategy_out(tmp_path: Path, rewrite: Rewrite) -> None:
    text, _ = rewrite(MIRRORED, "default")
    assert "RunConfig(sys.argv[1])" in text
    assert "trategy" not in text + (tmp_path / "training.py").read_text("utf-8")


def test_keep_leaves_it(rewrite: Rewrite) -> None:
    text, _ = rewrite(MIRRORED, "keep")
    assert "tf.distribute.MirroredStrategy()" in text


def test_a_configuration_from_elsewhere_keeps_the_program(rewrite: Rewrite) -> None:
    made = "from settings import config\n\n"
    made += "estimator = tf.estimator.Estimator(model_fn, config=config)"
    text, printed = rewrite(made, "mirrored")
    assert "finds no `tf.estimator.RunConfig(...)` to put it in" in printed
    assert "tf.estimator.Estimator" in text


@pytest.mark.timeout(900)
def test_a_program_of_one_device_trains_on_two_workers_and_alone(
    tmp_path: Path, rewrite: Rewrite, tfmigrate: Runner
) -> None:
    rewrite(BARE, "multiworker")
    verify = ("verify", ".", ".", "--keep=runs", "--", "python", "program.py", "alone")
    told = tfmigrate(*verify, cwd=tmp_path)
    assert "Parity: " in told.stdout
    # What trains is another object than what evaluates.
    recording = json.loads((tmp_path / "runs/run-0/recording.json").read_text("utf-8"))
    assert len(recording["evaluations"]) == 1
    alone = subprocess.run(
        [sys.executable, "program.py", "alone"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert alone.returncode == 0, alone.stderr[-3000:]
    launch = ("launch", "--workers", "2", "program.py", "both")
    together = tfmigrate(*launch, cwd=tmp_path, timeout=600)
    assert together.returncode in (0, 1), together.stderr[-3000:]
    losses = re.findall(r"FIGURES (\S+)", alone.stdout + together.stdout)
    assert len(losses) == 3
    assert all(float(loss) < 1e-6 for loss in losses)
