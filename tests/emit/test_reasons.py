"""A program that keeps its Estimator says what is in the way, and where."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .one_module import run

MODEL = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(([[1.0, 2.0]], [1])).batch(1)


"""
QUEUE = """\
def queue_fn():
    reader = tf.TextLineReader()
    _, value = reader.read(tf.train.string_input_producer(["a.csv"]))
    return tf.train.batch(tf.decode_csv(value, [[0.0], [0]]), 8)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(queue_fn)
"""
EXPERIMENT = """\
def experiment_fn(run_config, hparams):
    return tf.contrib.learn.Experiment(
        tf.estimator.Estimator(model_fn, config=run_config), input_fn, input_fn
    )


tf.contrib.learn.learn_runner.run(experiment_fn)
"""
DERIVED = """\
class Mine(tf.estimator.Estimator):
    def __init__(self):
        super(Mine, self).__init__(model_fn)


Mine().train(input_fn)
"""
CONFIG = """\
import functools


@functools.lru_cache()
def build(config):
    return tf.estimator.Estimator(model_fn, config=config)


build(tf.estimator.RunConfig()).train(input_fn)
"""
REBOUND = """\
estimator = tf.estimator.Estimator(model_fn)
estimator = tf.contrib.estimator.add_metrics(estimator, None)
estimator.train(input_fn)
"""
LISTED = """\
first = tf.estimator.Estimator(model_fn)
for each in map(abs, [first]):
    each.train(input_fn)
"""
BRANCH = """\
if input_fn:
    estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn)
"""
WITH = """\
with tf.Graph().as_default():
    rate = tf.constant(0.1)
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn)
"""
TRAINS = """\
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn)
"""
UNUSED = """\
def serving_fn():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.ServingInputReceiver(x, x)


"""
# file -> text, reason, and the line of the finding, told by what stands there
CASES: dict[str, tuple[str, str, str]] = {
    "queue": (MODEL + QUEUE, "read the files with tf.data first", "reader.read"),
    "experiment": (MODEL + EXPERIMENT, "train_and_evaluate(", "Experiment("),
    "derived": (MODEL + DERIVED, "`Mine` is a class of its own", "class Mine"),
    "config": (
        MODEL + CONFIG,
        "the estimator is returned",
        "    return tf.estimator.Estimator(",
    ),
    "rebound": (MODEL + REBOUND, "`tf.contrib.estimator.add_metrics`", "add_metrics"),
    "listed": (MODEL + LISTED, "not understood: `map(abs, [first])`", "for each"),
    "chained": (
        MODEL + "tf.estimator.Estimator(model_fn).train(input_fn)\n",
        "the estimator has no name: give it one",
        "tf.estimator.Estimator(model_fn).train",
    ),
    "branch": (MODEL + BRANCH, "used outside of it", "\nestimator.train"),
    "with": (MODEL + WITH, "inside `with tf.Graph().as_default()`", "    estimator ="),
}
PACKAGE = {
    "far_main.py": "import tensorflow as tf\n"
    "from far_model import input_fn, model_fn\n\n" + TRAINS,
    "far_model.py": MODEL.replace("tf.train.Adam", "tf.contrib.opt.LazyAdam"),
    "unused.py": MODEL + UNUSED + TRAINS,
    "reads.py": MODEL
    + TRAINS
    + "print(tf.train.load_checkpoint(estimator.model_dir).get_tensor('global_step'))\n",
    "lent.py": MODEL + UNUSED + TRAINS,
    "borrows.py": "from lent import serving_fn\n\nprint(serving_fn())\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The findings of each file."""
    folder = tmp_path_factory.mktemp("reasons")
    for name, (text, _, _) in CASES.items():
        (folder / f"{name}.py").write_text(text)
    for name, text in PACKAGE.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "tfmigrate", "scan", "--format", "json"]
    # Why a loop is not written in place, whatever the loop module can do.
    command += ["--style", "inline"]
    result = subprocess.run(
        [*command, str(folder)], capture_output=True, text=True, check=False
    )
    files = json.loads(result.stdout)["files"]
    return {Path(one["path"]).name: one["findings"] for one in files}


def stayed(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [finding for finding in findings if finding["rule"] == "TFM103"]


@pytest.mark.parametrize("name", CASES)
def test_reason_and_line(name: str, found: dict[str, list[dict[str, Any]]]) -> None:
    text, reason, place = CASES[name]
    (finding,) = stayed(found[f"{name}.py"])
    assert reason in finding["reason"]
    line = text[: text.index(place) + len(place)].count("\n") + 1
    assert finding["line"] == line


def test_reasons_of_programs_in_several_files(
    found: dict[str, list[dict[str, Any]]],
) -> None:
    (far,) = stayed(found["far_main.py"])
    assert "defined somewhere else" in far["reason"]
    (part,) = stayed(found["far_model.py"])
    assert "belongs to far_main.py, which keeps its Estimator" in part["reason"]


def test_names_in_checkpoints_are_told(
    found: dict[str, list[dict[str, Any]]],
) -> None:
    assert not stayed(found["reads.py"])
    (told,) = [one for one in found["reads.py"] if "checkpoints" in one["message"]]
    assert told["line"] == PACKAGE["reads.py"].count("\n")


def test_what_nobody_calls_keeps_no_program(
    found: dict[str, list[dict[str, Any]]],
) -> None:
    assert not stayed(found["unused.py"])
    rules = {finding["rule"] for finding in found["unused.py"]}
    assert {"TFM101", "TFM209"} <= rules
    # Another file calls it.
    assert stayed(found["lent.py"])


def test_an_estimator_in_an_annotation_is_told_like_any_other_use() -> None:
    code = "import tensorflow as tf\n\ny: tf.estimator.Estimator(tf.log) = 1\n"
    (finding,) = run(code).findings
    assert "`tf.estimator.Estimator(tf.log)`" in (finding.reason or "")
