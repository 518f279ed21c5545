"""What is another value for each mode, before there is any graph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

PROGRAM = """\
import tensorflow as tf
from somewhere import SETTINGS

FLAGS = tf.flags.FLAGS
TRAIN = tf.estimator.ModeKeys.TRAIN


def kept(mode):
    if mode == TRAIN:
        return FLAGS.keep
    return 1.0


class Setting(object):
    def __init__(self, mode, params):
        self.keep = 1.0
        if mode == TRAIN:
            self.keep = params['keep']


def model_fn(features, labels, mode, params):
    {keep}
    net = tf.layers.dense(features['x'], {size})
    net = tf.nn.dropout(net, keep)
    scores = tf.layers.dense(net, 2)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{'scores': scores}})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, scores)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn, params={{'keep': 0.5}}).train(data)
"""
BRANCHES = """\
if mode == TRAIN:
        keep = {}
    else:
        keep = {}"""


def rewritten(folder: Path, keep: str, size: str) -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM.format(keep=keep, size=size), "utf-8")
    report = run_job([path], Job())
    ((_, program),) = report.programs
    if program.outcome is not ProgramOutcome.NATIVE:
        return f"kept: {program.reason}"
    (result,) = (one for one in report.changed if one.path == path)
    assert result.new is not None
    return result.new.decode()


@pytest.mark.parametrize("size", ["8", "FLAGS.size", "params['size']"])
@pytest.mark.parametrize(
    "keep",
    [
        "keep = 0.5 if mode == TRAIN else 1.0",
        "keep = FLAGS.keep if mode == TRAIN else 1.0",
        "keep = SETTINGS.keep if mode == TRAIN else SETTINGS.eval_keep",
        "keep = params['keep'] if mode == TRAIN else FLAGS.eval_keep",
        BRANCHES.format("0.5", "1.0"),
        BRANCHES.format("FLAGS.keep", "1.0"),
        BRANCHES.format("params['keep']", "params['eval_keep']"),
        "keep = 1.0\n    if mode == TRAIN:\n        keep = params['keep']",
        "keep = kept(mode)",
        "setting = Setting(mode, params)\n    keep = setting.keep",
    ],
)
def test_no_constructor_has_the_value_of_one_mode(
    tmp_path: Path, keep: str, size: str
) -> None:
    text = rewritten(tmp_path, keep, size)
    (rate,) = re.findall(r"dropout\(net, rate=(.*)\)\n", text) or ("",)
    assert text.startswith("kept: ") is ("(mode" in keep)
    assert "training" in text or text.startswith("kept: ")
    assert "self." not in rate


def test_an_object_that_is_told_the_mode_drops_in_training_alone(
    tmp_path: Path,
) -> None:
    net = (
        "class Net(object):\n"
        "    def __init__(self, params, training):\n"
        "        self.keep = params['keep'] if training else 1.0\n"
        "        self.training = training\n\n"
        "    def __call__(self, x):\n"
        "        net = tf.nn.dropout(tf.layers.dense(x, 4), self.keep)\n"
        "        return tf.layers.dropout(net, 0.5, training=self.training)\n\n\n"
    )
    made = "made = Net(params, mode == TRAIN)\n    net = made(features['x'])\n"
    text = PROGRAM.format(keep=f"{made}    keep = 1.0", size="2")
    text = text.replace("tf.layers.dense(features['x'], 2)", "tf.layers.dense(net, 2)")
    path = tmp_path / "program.py"
    path.write_text(text.replace("def model_fn", f"{net}def model_fn"))
    report = run_job([path], Job())
    ((_, program),) = report.programs
    assert program.outcome is ProgramOutcome.NATIVE, program.reason
    (new,) = (one.new for one in report.changed if one.path == path)
    assert new is not None
    assert b" = self.params['keep'] if training else 1.0" in new
    assert b"(net, training=training)" in new


def test_a_choice_of_setup_is_held(tmp_path: Path) -> None:
    text = rewritten(tmp_path, "keep = 0.5 if params['drop'] else 1.0", "params['n']")
    assert not text.startswith("kept: ")
    assert "self.keep = keep" in text


def test_what_is_not_for_predictions_alone_is_no_flag_of_training(
    tmp_path: Path,
) -> None:
    keep = """\
keep = 1.0
    if mode {} tf.estimator.ModeKeys.{}:
        features = {{'x': features['x'] + 0.1}}"""
    text = rewritten(tmp_path, keep.format("==", "TRAIN"), "4")
    assert "if training:" in text
    text = rewritten(tmp_path, keep.format("!=", "PREDICT"), "4")
    assert text.startswith("kept: each mode gives the model something else")
