"""What a native program looks like: gaps, imports, the class of its model."""

from __future__ import annotations

import re
from pathlib import Path

from tfmigrate.code.spacing import with_smaller_gap, without_new_gaps
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

PROGRAM = '''\
"""Digits."""
import argparse
import tensorflow as tf


PREDICT = tf.estimator.ModeKeys.PREDICT
TRAIN = tf.estimator.ModeKeys.TRAIN


ROWS = 8


def network(inputs, mode):
    """Two layers."""
    net = tf.layers.dense(inputs / 255, 4, tf.nn.relu)
    net = tf.layers.dropout(net, .5, training=mode == TRAIN)
    return tf.layers.dense(net, 2) + 1


def model_fn(features, labels, mode):
    # The logits of two classes.
    logits = network(features, mode)
    if mode == PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'classes': tf.argmax(logits, 1)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = tf.ones((ROWS, 2))
    dataset = tf.data.Dataset.from_tensors((x, tf.ones(ROWS, tf.int32)))

    # A one-shot iterator.
    iterator = dataset.make_one_shot_iterator()
    # Rows and their classes.
    images, labels = iterator.get_next()
    return images, labels


def main(_):
    tf.estimator.Estimator(model_fn).train(input_fn, steps=3)


if __name__ == '__main__':
    tf.app.run()
'''
TELL = """\
import tensorflow as tf

from train import input_fn, model_fn

# What the model tells.
print(*tf.estimator.Estimator(model_fn, 'trained').predict(input_fn))
"""


def rewritten(folder: Path, text: str) -> str:
    """The one file of a program, as it is afterwards."""
    (folder / "train.py").write_text(text, "utf-8")
    (folder / "tell.py").write_text(TELL, "utf-8")
    report = run_job(sorted(folder.glob("*.py")), Job())
    (new,) = [one.new for one in report.results if one.path.name == "train.py"]
    return (new or b"").decode()


def test_a_program_looks_as_if_written_so(tmp_path: Path) -> None:
    found = rewritten(tmp_path, PROGRAM)
    head, _, rest = found.partition("ROWS = 8")
    assert head == (
        '"""Digits."""\nimport argparse\nimport sys\n'
        "import tensorflow as tf\nimport tf_keras\n\n"
        "from training import Task, Trainer\n\n\n"
    )
    assert "\n\n\n\n" not in found
    assert "    def __init__(self):\n        super" in rest
    # A model of one network is the network.
    assert "class Network(tf_keras.Model):\n    " in rest
    assert (
        "        # The logits of two classes.\n        self.model = Network()\n" in rest
    )
    assert "Sequential" not in found
    assert (
        ", tf.int32)))\n\n    # Rows and their classes.\n    return dataset\n" in found
    )
    assert "def call(self, inputs, training):" in rest


def test_what_goes_on_in_a_block_of_tabs_does_so_by_tabs(tmp_path: Path) -> None:
    text = re.sub("(?m)^    (    )?", lambda one: "\t" * (len(one[0]) // 4), PROGRAM)
    found = rewritten(tmp_path, text)
    assert "\t\treturn tf.reduce_mean(\n\t\t\ttf_keras" in found
    assert "\t " not in found


def test_gaps_are_as_long_as_they_were() -> None:
    text = 'a = 1\n\n\n\nb = """\n\n\n\n"""\n\n\n\nif b:\n    a = 2\n\n\n    b = 3\n'
    assert without_new_gaps(text, text) == text
    assert without_new_gaps(text, "a = 1\n") == (
        'a = 1\n\n\nb = """\n\n\n\n"""\n\n\nif b:\n    a = 2\n\n    b = 3\n'
    )


def test_what_goes_leaves_the_larger_gap() -> None:
    text = "import a\n\nb = 1\n\n\ndef f():\n    pass\n\n\nc = 1\n\nd = 2\n"
    for line, then in (
        ("b = 1\n", "import a\n\n\ndef"),
        ("c = 1\n", "    pass\n\n\nd = 2\n"),
    ):
        first = text.index(line)
        start, end = with_smaller_gap(text, first, first + len(line))
        assert then in text[:start] + text[end:]
