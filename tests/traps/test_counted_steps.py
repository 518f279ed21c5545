"""A step counted by hand beside the update counts as the optimizer would.

Programs of the BERT family assign `global_step + 1` in no order with the rate that reads
the step. TensorFlow 1.15 mixed old and new values, each program in its own way; the
sessions of today did so differently in each run.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

from .test_traps import answers

BY_HAND = '''\
"""A rate that warms up and decays, and a step that is counted beside the update."""
import os

import numpy as np
import tensorflow as tf

X = np.linspace(-1, 1, 24).reshape(8, 3).astype('float32')
Y = (X ** 2).sum(1, keepdims=True)


def data():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(8).batch(4)


def model_fn(features, labels, mode):
    y = tf.layers.dense(features, 1, kernel_initializer=tf.constant_initializer(0.5))
    loss = tf.losses.mean_squared_error(labels, y)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(0.4, step, 20, end_learning_rate=0.0)
    warm = tf.cast(step < 6, tf.float32)
    rate = (1.0 - warm) * rate + warm * 0.4 * tf.cast(step, tf.float32) / 6.0
    gradients = tf.gradients(loss, tf.trainable_variables())
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    train_op = tf.train.AdamOptimizer(rate).apply_gradients(
        zip(gradients, tf.trainable_variables()))
    train_op = tf.group(train_op, [step.assign(step + 1)])
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, os.environ['MODEL_DIR'])
estimator.train(data, steps=16)
FIGURES = {'result': estimator.evaluate(data)}
'''
BY_OPTIMIZER = re.sub(
    r"variables\(\)\)\)\n.*\n",
    "variables()), step)\n",
    BY_HAND,
)


def test_it_is_counted_after_all_have_read_it(tmp_path: Path) -> None:
    assert "step.assign" not in BY_OPTIMIZER
    programs = [tmp_path / "by_hand.py", tmp_path / "by_optimizer.py"]
    for path, text in zip(programs, (BY_HAND, BY_OPTIMIZER), strict=True):
        path.write_text(text, "utf-8")
    (tmp_path / "rewritten").mkdir()
    report = run_job(programs, Job())
    for result in report.changed:
        assert result.new is not None
        (tmp_path / "rewritten" / result.path.name).write_bytes(result.new)
    unedited = answers(programs, "-m", "tfmigrate", "run", "--tf", "1")
    expected = unedited["by_optimizer"]["figures"]["result"]
    assert unedited["by_hand"]["figures"]["result"] == pytest.approx(expected, rel=1e-6)
    found = answers([tmp_path / "rewritten" / "by_hand.py"])["by_hand"]["figures"][
        "result"
    ]
    assert found == pytest.approx(expected, rel=1e-5)
