"""A strategy that names devices which are not there stops at once, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import Run, run
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import one_source

PROGRAM = """\
import os

import tensorflow as tf


def model_fn(features, labels, mode):
    y = tf.layers.dense(features, 1)
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


TWO = {
    "devices": 'tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])',
    "num_gpus": "tf.contrib.distribute.MirroredStrategy(num_gpus=2)",
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """How each of the programs ended that is native now."""
    strategies = {**TWO, "all": "tf.distribute.MirroredStrategy()"}
    programs = []
    for named, strategy in strategies.items():
        text = PROGRAM.replace("STRATEGY", strategy)
        report = one_source(Path("program.py"), text.encode(), Job())
        (result,) = report.results
        assert result.new is not None
        assert b"tf.estimator" not in result.new, report.findings
        folder = tmp_path_factory.mktemp(named)
        programs.append(folder / "program.py")
        programs[-1].write_bytes(result.new)
    return {
        named: run(
            path,
            on="native",
            watch=False,
            env={"MODEL_DIR": str(path.with_name("model"))},
        )
        for named, path in zip(strategies, programs, strict=True)
    }


@pytest.mark.parametrize("named", TWO)
def test_missing_gpus_end_the_program(named: str, ended: dict[str, Run]) -> None:
    done = ended[named]
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "GPU" in last, done.stderr


def test_all_gpus_are_those_that_there_are(ended: dict[str, Run]) -> None:
    done = ended["all"]
    assert done.returncode == 0, done.stderr
    assert "trained on 1" in done.stdout
