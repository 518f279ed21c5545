"""Methods that are called around layers, in model functions that become Keras layers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.layers.together import Lifting, lifted_together

TRAPS = Path(__file__).resolve().parents[3] / "fixtures" / "traps" / "programs"

PROGRAM = """\
import tensorflow as tf


class Net:
    def __init__(self, sizes):
        self.sizes = sizes
        self.count = 0

    def dense(self, x, by=1):
        self.count += 1
        return by * tf.layers.dense(x, self.sizes[0])

    def __call__(self, x):
        net = {value}
        return tf.layers.dense(net, 1)


def model_fn(features, labels, mode, params):
    out = Net(params["sizes"])(features)
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, "out", params={{"sizes": [3]}})
estimator.train(lambda: tf.data.Dataset.from_tensors(([[1.0]], [[2.0]])), steps=1)
"""


def lifted(folder: Path, text: str) -> Lifting:
    """What a program becomes."""
    path = folder / "program.py"
    path.write_text(text, "utf-8")
    facts = ProjectFacts((path,))
    (found,) = lifted_together([facts.load(path, path.read_bytes())], facts)
    return found


def test_calls_stand_in_lines_in_their_order(tmp_path: Path) -> None:
    value = "self.dense(tf.layers.dense(x, 2)) + self.dense(self.dense(x), by=2)"
    found = lifted(tmp_path, PROGRAM.format(value=value))
    assert not found.left
    lines = [one.strip() for one in found.parsed.source.text.splitlines()]
    first = lines.index("dense_out_2 = self.dense(dense_out)")
    assert lines[first + 1 : first + 3] == [
        "dense_out_3 = self.dense(x)",
        "net = dense_out_2 + self.dense(dense_out_3, by=2)",
    ]


@pytest.mark.parametrize(
    "value",
    [
        # What the first call changes is read before it, and a call that may not be.
        "self.dense(x, by=self.count + 1) * self.count + self.dense(self.dense(x))",
        "self.dense(self.dense(x)) if params else tf.layers.dense(x, 2)",
        "[self.dense(self.dense(x)) for _ in range(2)][-1]",
    ],
)
def test_what_may_be_another_value_stays(value: str, tmp_path: Path) -> None:
    found = lifted(tmp_path, PROGRAM.format(value=value))
    assert "_out" not in found.parsed.source.text


def test_a_program_with_all_of_it_has_layers(tmp_path: Path) -> None:
    text = (TRAPS / "layers_in_methods.py").read_text("utf-8")
    found = lifted(tmp_path, text)
    assert not found.left
    # A layer called as a word of Python is.
    assert "self.in_" in found.parsed.source.text


def test_layers_in_a_lambda_are_told(tmp_path: Path) -> None:
    text = PROGRAM.format(value="KINDS['one'](self, x)")
    kinds = "KINDS = dict(one=lambda net, x: net.dense(tf.layers.dense(x, 2)))\n\n\n"
    text = text.replace("class Net:", kinds + "class Net:")
    ((_, reason),) = lifted(tmp_path, text).left
    assert "layers in a lambda" in reason
