"""What a method keeps in its object becomes a name where nothing else may read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rewritten import rewritten as text_of

PROGRAM = Path(__file__).with_name("programs") / "kept_in_self.py"
FIRST = "        self.loss, self.train_op, self.metrics = None, None, None\n"
HEADER = "    def __init__(self, title):"


def rewritten(folder: Path, *edits: tuple[str, str]) -> str:
    text = PROGRAM.read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text_of(folder, text)


def test_what_is_kept_is_a_name(tmp_path: Path) -> None:
    text = rewritten(tmp_path)
    assert "class ModelTask(Task)" in text
    assert "errors = tf.square(labels - value)" in text
    assert "self.errors" not in text
    # The attribute that no object ever had is still the mistake that it was.
    assert "raise AttributeError(\"'Tower' object has no attribute 'kind'\")" in text


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(("print(owner.title)", "print(owner)"), id="handed about"),
        pytest.param((HEADER, f"    metrics = None\n\n{HEADER}"), id="of the class"),
        pytest.param((FIRST, f"        print(self.loss)\n{FIRST}"), id="read before"),
        pytest.param(
            (FIRST, f"        self.loss += 'x'\n{FIRST}"), id="changed before"
        ),
        pytest.param(
            ("owner = Program(", "class More(Program):\n    pass\n\n\nowner = More("),
            id="extended",
        ),
    ],
)
def test_what_others_may_read_stays(tmp_path: Path, edit: tuple[str, str]) -> None:
    text = rewritten(tmp_path, edit)
    assert "tfmigrate.compat.install()" in text
    assert "self.loss = tf.reduce_mean(self.errors)" in text


DEEP = """\
import tensorflow as tf


class Program:
    def first(self, features):
        return self.second(features)

    def second(self, features):
        return self.third(features)

    def third(self, features):
        self.value = tf.layers.dense(features, 1)
        return self.value

    def model_fn(self, features, labels, mode):
        output = self.first(features)
        loss = tf.losses.mean_squared_error(labels, self.value)
        train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, output, loss, train_op)


tf.estimator.Estimator(Program().model_fn).train(input_fn)
"""


def test_what_a_method_of_a_method_keeps_is_a_name_too(tmp_path: Path) -> None:
    text = text_of(tmp_path, DEEP)
    assert "(Task):" in text
    assert "self.value" not in text
