"""Methods that make layers and need no object are functions beside their class."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

PROGRAM = """\
import tensorflow as tf


class Runs(object):
    def __init__(self, units):
        self.units = units

    {decorator}
    # of one width
    def block({first}x, units, training):
        x = tf.layers.dense(x, units)
        x = tf.layers.batch_normalization(x, training=training)
        return tf.nn.relu(x)

    def model_fn(self, features, labels, mode):
        training = mode == tf.estimator.ModeKeys.TRAIN
        net = self.block(features, self.units, training)
        net = {called}(net, self.units, training)
        loss = tf.losses.mean_squared_error(labels, net)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = tf.train.AdamOptimizer(.1).minimize(
                loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(Runs(3).model_fn).train(input_fn)
"""
OWN = PROGRAM.format(decorator="", first="self, ", called="self.block")
STATIC = PROGRAM.format(decorator="@staticmethod", first="", called="Runs.block")


@pytest.mark.parametrize("program", [OWN, STATIC])
def test_they_are_functions(program: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(program, "utf-8")
    report = run_job([path], Job())
    ((_, found),) = report.programs
    assert found.outcome is ProgramOutcome.NATIVE, found.reason
    text = next((one.new or b"").decode() for one in report.changed if one.path == path)
    assert "class Block(tf_keras.layers.Layer):" in text
    assert text.count("Block(units=owner.units),") == 2
    assert "staticmethod" not in text


@pytest.mark.parametrize("named", ["Runs.block", "getattr(Runs(1), 'block')"])
def test_those_that_others_name_stay(named: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(STATIC, "utf-8")
    (tmp_path / "other.py").write_text(f"from train import Runs\n\nprint({named})\n")
    ((_, found),) = run_job([path], Job()).programs
    assert found.outcome is ProgramOutcome.KEPT
