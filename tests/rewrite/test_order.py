"""What has no order within a step of TensorFlow 1 keeps its program.

Graphs of TensorFlow 1 read variables by reference: what is read without an order may be
the value before an update or behind it, and which one is the same in every run. An
eager step has an order, so its figures could be others.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.report.model import FileResult, FileStatus
from tfmigrate.rewrite.pipeline import Job, process_source

PROGRAM = """\
HEAD
import tensorflow as tf


def data():
    return tf.data.Dataset.from_tensors(([[1.0, 2.0]], [[3.0]])).repeat(8)


def model_fn(features, labels, mode):
    y = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    MORE
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(data, steps=3)
"""
PLAIN = """\
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
"""


def processed(more: str, head: str = "", *, only: bool = False) -> FileResult:
    """What becomes of a program that is a file of its own.

    ``only`` says that ``more`` trains by itself.
    """
    text = PROGRAM.replace(PLAIN, "") if only else PROGRAM
    raw = text.replace("HEAD", head).replace("MORE", more).encode()
    compile(raw, "program.py", "exec")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_bytes(raw)
        result = process_source(path, raw, Job(), ProjectFacts((path,)))
    assert result.status is not FileStatus.FAILED, result.error
    return result


def is_kept(result: FileResult) -> bool:
    return {f.program for f in result.findings} == {ProgramOutcome.KEPT}


def test_a_plain_step_is_native() -> None:
    assert not is_kept(processed("pass"))


@pytest.mark.parametrize(
    "more",
    [
        (
            "rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), 2, 0.5)"
            "\n    other = tf.train.AdamOptimizer(rate)"
            "\n    more = other.minimize(loss, tf.train.get_global_step())"
            "\n    train_op = tf.group(train_op, more)"
        ),
        "train_op = tf.assign_add(tf.train.get_global_step(), 2)",
        (
            "tf.keras.layers.Dense(1)(features)\n"
            "    with tf.control_dependencies([train_op]):\n"
            "        train_op = tf.train.AdamOptimizer(0.1).minimize(loss)"
        ),
        (
            "count = tf.get_variable('count', [], trainable=False)\n"
            "    train_op = tf.group(train_op, tf.assign_add(count, 1.0))\n"
            "    tf.losses.add_loss(count)"
        ),
        (
            "def stepped(of):\n"
            "        return tf.train.AdamOptimizer(0.1).minimize(of)\n"
            "    train_op = tf.cond(loss > 1, lambda: stepped(loss), tf.no_op)"
        ),
    ],
)
def test_steps_without_a_fixed_order(more: str) -> None:
    assert is_kept(processed(more))


@pytest.mark.parametrize(
    "evaluated",
    [
        "AVERAGE\n    MOVED\n    if mode == 'eval':\n        RETURN",
        "AVERAGE\n    for _ in range(2):\n        if mode == 'eval':\n"
        "            RETURN\n        MOVED",
    ],
    ids=["left behind", "in a loop"],
)
def test_a_variable_that_another_mode_reads(evaluated: str) -> None:
    average = "average = tf.get_variable('average', [], trainable=False)"
    moved = "train_op = tf.group(train_op, tf.assign(average, loss))"
    returned = (
        "return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"
        "'average': (tf.identity(average), tf.no_op())})"
    )
    more = evaluated.replace("AVERAGE", average).replace("MOVED", moved)
    assert is_kept(processed(more.replace("RETURN", returned)))


def test_gradients_behind_an_update_of_a_table() -> None:
    more = (
        "table = tf.get_variable(\n"
        "        'table', [9, 1], trainable=False, use_resource=True)\n"
        "    rows = tf.matmul(y, table, transpose_b=True)\n"
        "    moved = tf.scatter_sub(table, [0], rows[:1] * 0.1)\n"
        "    loss += tf.reduce_mean(rows - y)\n"
        "    with tf.control_dependencies([moved]):\n"
        "        train_op = tf.train.AdamOptimizer(0.1).minimize(\n"
        "            loss, tf.train.get_global_step())"
    )
    assert is_kept(processed(more, only=True))


@pytest.mark.parametrize(
    "taken",
    [
        "lost, rows, moved = centred(y)\n    rows = [rows]",
        "lost, rows, moved = centred(y)\n    loss += rows[0, 0]",
        "lost, *rest = centred(y)\n    moved = rest[1]",
        "lost, moved = centred(y)[::2]",
    ],
)
def test_a_table_that_is_returned_is_read_by_who_takes_it(taken: str) -> None:
    head = (
        "def centred(net):\n"
        "    table = tf.get_variable('table', [9, 1], trainable=False)\n"
        "    rows = tf.gather(table, [0, 1])\n"
        "    moved = tf.scatter_sub(table, [0, 1], rows - net[:2])\n"
        "    return tf.nn.l2_loss(net[:2] - rows), table, moved\n"
    )
    more = f"{taken}\n    train_op = tf.group(train_op, moved)"
    assert is_kept(processed(more, head))
