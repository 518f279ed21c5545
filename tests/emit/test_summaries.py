"""Event files of rewritten programs against those of TF 1.15.5."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .one_module import run

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "summaries"
ORACLE = HERE.parents[1] / "fixtures" / "oracle" / "summaries"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))
RUNS = [(name, keras) for name in NAMES for keras in ("tf_keras", "keras3")]
# Trains the programs from recorded weights, and reads their event files.
CHILD = """
import glob, json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from model_fn_runner import np, run_rewritten, tf
cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
for program, start in json.loads(sys.argv[2]):
    weights = list(np.load(start).items())
    run_rewritten(Path(program), [weights])
    folder, tags = os.environ["MODEL_DIR"], {}
    written = glob.glob(os.path.join(folder, "**", "events*"), recursive=True)
    for path in sorted(written):
        place = os.path.relpath(os.path.dirname(path), folder)
        for event in tf.compat.v1.train.summary_iterator(path):
            for value in event.summary.value:
                noted = tags.setdefault(f"{place} {value.tag}", [])
                noted.append([event.step, value.simple_value])
    Path(program).with_suffix(".json").write_text(json.dumps(tags))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The event files of all programs, as tags with steps and values."""
    folder = tmp_path_factory.mktemp("summaries")
    jobs = []
    for name, keras in RUNS:
        code = (PROGRAMS / f"{name}.py").read_text("utf-8")
        program = folder / f"{name}-{keras}.py"
        program.write_text(run(code, keras=keras).module.code, "utf-8")
        jobs.append((str(program), str(ORACLE / f"{name}.npz")))
    result = subprocess.run(
        [sys.executable, "-c", CHILD, str(HERE), json.dumps(jobs)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return folder


@pytest.mark.parametrize(("name", "keras"), RUNS)
def test_tags_steps_and_values_are_those_of_tf_1_15(
    written: Path, name: str, keras: str
) -> None:
    expected = json.loads((ORACLE / f"{name}.json").read_text("utf-8"))
    found = json.loads((written / f"{name}-{keras}.json").read_text("utf-8"))
    assert set(found) == set(expected)
    for tag, values in expected.items():
        if tag.endswith("global_step/sec"):
            assert all(value > 0 for _, value in found[tag])
            continue
        assert [step for step, _ in found[tag]] == [step for step, _ in values]
        np.testing.assert_allclose(
            [value for _, value in found[tag]],
            [value for _, value in values],
            rtol=1e-5,
            err_msg=tag,
        )


PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 4)
    y = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, y)
    SUMMARY
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(([[1., 2.]], [[1.]])).repeat()


config = tf.estimator.RunConfig(save_summary_steps=5)
est = tf.estimator.Estimator(model_fn, "there", config)
est.train(input_fn, steps=20)
"""


@pytest.mark.parametrize(
    ("summary", "tag"),
    [
        ('tf.summary.scalar("Loss_1", loss)', '"Loss_1": float(loss)'),
        ('tf.summary.scalar("largest", tf.reduce_max(y))', "[tf.reduce_max(y)]"),
        ('tf.summary.scalar("n", tf.size(y))', "tf.cast(tf.size(y), tf.float32)"),
        ('tf.summary.scalar("size", tf.size(y))', '["size_1"]'),
        ('size = tf.size(y); tf.summary.scalar("size", size)', None),
        ('tf.summary.histogram("y", y)', None),
        ('tf.summary.scalar("mean_%d" % 3, loss)', None),
        ('tf.summary.scalar("a", loss, collections=["mine"])', None),
        ('tf.summary.scalar("a", tf.py_func(f, [y], tf.float32))', None),
    ],
)
def test_what_is_not_written_is_in_the_report(summary: str, tag: str | None) -> None:
    result = run(PROGRAM.replace("SUMMARY", summary))
    lost = [f.message for f in result.findings if f.rule == "TFM141"]
    assert len(lost) == (tag is None)
    assert tag is None or tag in result.module.code
    # No program that does not say how often has event files.
    code = PROGRAM.replace("SUMMARY", summary).replace("save_summary_steps=5", "")
    result = run(code)
    assert [f for f in result.findings if f.rule == "TFM141"]
    assert "writer" not in result.module.code
