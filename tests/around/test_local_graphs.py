"""Sessions that look at data beside a Keras model get a graph of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.report.model import Report
from tfmigrate.rewriting.pipeline import Job

sys.path.insert(0, str(Path(__file__).resolve().parent))

from here import run_here

HEAD = """\
import numpy as np
import tensorflow as tf

X = np.arange(24, dtype=np.float32).reshape(8, 3) / 24
Y = X.sum(1, keepdims=True)
model = tf.keras.Sequential([
    tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer='zeros')])
model.compile(tf.train.GradientDescentOptimizer(0.1), 'mse')
estimator = tf.keras.estimator.model_to_estimator(keras_model=model)


def batches(repeat=1):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).repeat(repeat).batch(4)
    return dataset.make_one_shot_iterator().get_next()


"""
LOOK = """\
batch = batches()
with tf.Session() as sess:
    for _ in range(2):
        seen = sess.run(batch)
        print(float(seen[1].sum()))
"""
TAIL = """\
estimator.train(lambda: batches(4), steps=6)
print(estimator.evaluate(batches))
"""
LOCAL = """\
with tf.Graph().as_default():
    batch = batches()
    with tf.compat.v1.Session() as sess:
        for _ in range(2):
            seen = sess.run(batch)
            print(float(seen[1].sum()))
"""


def rewritten(path: Path, text: str) -> Report:
    path.write_text(text)
    return run_here([path], Job(options=RewriteOptions(style="module")))


def tier(report: Report, name: str) -> str:
    (result,) = (one for one in report.results if one.path.name == name)
    assert result.program is not None
    return result.program.tier.value


@pytest.mark.parametrize(
    "look",
    [
        # Another line needs what it runs.
        f"{LOOK}print(batch)\n",
        f"def shapes():\n    return batch\n\n\n{LOOK}",
        # It runs what was not made for it.
        LOOK.replace("sess.run(batch)", "sess.run([batch, model.outputs])"),
        LOOK.replace("sess.run(batch)", "sess.run(batch, {model.inputs[0]: X})"),
        # It is more than a look.
        LOOK.replace("        seen = ", "        sess.as_default()\n        seen = "),
        # A text of several lines would be another one further to the right.
        LOOK.replace("        print(", "        print('''a\nb''')\n        print("),
        # What leads to it is elsewhere.
        LOOK.replace("with tf.S", "estimator.train(batches)\nwith tf.S"),
    ],
)
def test_what_stays(look: str, tmp_path: Path) -> None:
    report = rewritten(tmp_path / "train.py", HEAD + look + TAIL)
    assert tier(report, "train.py") == "T3"
    (found,) = (one for one in report.findings if one.rule == "TFM103")
    assert "runs a session by hand" in (found.reason or "")
    assert "beside a Keras model" in (found.reason or "")


def test_looks_in_passing_stand_in_a_graph(tmp_path: Path) -> None:
    """Twice under one name; the program runs, and sees what it saw."""
    text = HEAD + LOOK + TAIL + LOOK.replace("batches()", "batches(2)")
    report = rewritten(tmp_path / "train.py", text)
    assert tier(report, "train.py") == "T1"
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)
    new = (tmp_path / "train.py").read_text()
    assert new.count(f"{LOCAL}{TAIL}") == 1
    assert new.count(LOCAL.replace("batches()", "batches(2)")) == 1
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    # As on TensorFlow 1.15.5.
    sums = [line for line in done.stdout.splitlines() if not line.startswith("{")]
    assert sums == ["2.75", "8.75"] * 2
    assert "'global_step': np.int64(6)" in done.stdout


@pytest.mark.parametrize(("apart", "becomes"), [(False, "T1"), (True, "T3")])
def test_cells_of_a_notebook(apart: bool, becomes: str, tmp_path: Path) -> None:
    """A line of one cell cannot stand below one of another."""
    cells = [HEAD, *(LOOK.split("\n", 1) if apart else [LOOK]), TAIL]
    empty = {"cell_type": "code", "execution_count": None, "metadata": {}}
    made = [{**empty, "outputs": [], "source": cell} for cell in cells]
    whole = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    report = rewritten(tmp_path / "train.ipynb", json.dumps(whole))
    assert tier(report, "train.ipynb") == becomes
