"""A strategy that names devices which are not there stops at once, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.rewriting.pipeline import Job
from tfmigrate.rewriting.run import one_source

from .forks import Ended, run

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


TWO = {
    "devices": 'tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])',
    "num_gpus": "tf.contrib.distribute.MirroredStrategy(num_gpus=2)",
}
FORMS = {"layers": LAYERS, "kept": KEPT}
CASES = [(form, named) for form in FORMS for named in TWO]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Ended]:
    """How each of the programs ended that is a loop now."""
    texts = {(f, n): (FORMS[f], TWO[n]) for f, n in CASES}
    texts["layers", "all"] = LAYERS, "tf.distribute.MirroredStrategy()"
    programs = []
    for (form, named), (layer, strategy) in texts.items():
        text = PROGRAM.replace("STRATEGY", strategy).replace("LAYER", layer)
        report = one_source(Path("program.py"), text.encode(), Job())
        (result,) = report.results
        assert result.new is not None
        assert b"tf.estimator" not in result.new, report.findings
        folder = tmp_path_factory.mktemp(f"{form}-{named}")
        programs.append(folder / "program.py")
        programs[-1].write_bytes(result.new)
    return dict(zip(texts, run(programs), strict=True))


@pytest.mark.parametrize(("form", "named"), CASES)
def test_missing_gpus_end_the_program(
    form: str, named: str, ended: dict[tuple[str, str], Ended]
) -> None:
    done = ended[form, named]
    assert done.returncode == 1
    # A loop in place says what there is, the loop module what to do instead.
    told = {
        "is not on this machine": ("GPU:0", "/device:CPU:0"),
        "ValueError: The strategy names devices": ("GPU:0", "takes what is there"),
        "ValueError: The program asks for 2 GPUs": ("has 0", "takes what is there"),
    }
    found = [(t, x) for t in told for x in done.stderr.splitlines() if t in x]
    assert len(found) == 1, done.stderr
    ((said, line),) = found
    assert all(word in line for word in told[said])


def test_all_gpus_are_those_that_there_are(
    ended: dict[tuple[str, str], Ended],
) -> None:
    done = ended["layers", "all"]
    assert done.returncode == 0, done.stderr
    assert "trained on 1" in done.stdout
