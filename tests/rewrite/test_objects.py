"""Objects that build the graph of a model function become part of it."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

NETWORK = '''\
"""The network."""
import math

import tensorflow as tf

SCALE = .1


def scaled(x):
    return x * SCALE


class Network(object):
    def __init__(self, features, mode):
        super(Network, self).__init__()
        self.mode = mode
        self.built = self._build(features['x'])

    def _build(self, x):
        with tf.variable_scope('network'):
            net = tf.layers.dense(scaled(x), 3, tf.nn.relu)
            return tf.layers.dense(net, 1) * math.pi

    def loss(self, labels):
        return tf.losses.mean_squared_error(labels, self.built)
'''

TRAIN = """\
import tensorflow as tf

from network import Network


def model_fn(features, labels, mode):
    network = Network(features, mode)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'y': tf.sigmoid(network.built)})
    loss = 2 * network.loss(labels)
    train_op = tf.train.GradientDescentOptimizer(.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = tf.ones((8, 2))
    return tf.data.Dataset.from_tensors(({'x': x}, x[:, :1])).repeat(5)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


def rewritten(folder: Path, **files: str) -> dict[str, str]:
    """What files become by their names; nothing where the program is kept."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text), "utf-8")
    report = run_job(sorted(folder.glob("*.py")), Job())
    assert not report.failed
    outcomes = {program.outcome for _, program in report.programs}
    if outcomes != {ProgramOutcome.NATIVE}:
        return {}
    return {
        result.path.stem: result.new.decode()
        for result in report.changed
        if result.new is not None
    }


def test_a_class_of_another_file_is_taken_with_what_it_reads(tmp_path: Path) -> None:
    found = rewritten(tmp_path, network=NETWORK, train=TRAIN)
    names = {one.name for one in ast.parse(found["train"]).body if hasattr(one, "name")}
    assert names == {"Model", "ModelTask", "input_fn"}
    assert "from network import scaled\nimport math\n" in found["train"]
    assert found["network"] == (
        '"""The network."""\n\n\nSCALE = .1\n\n\ndef scaled(x):\n    return x * SCALE\n'
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    loss = 2", "    print(network)\n    loss = 2"),
        ("    loss = 2", "    scale = getattr(network, 'scale', 1)\n    loss = scale"),
        ("network.built)", "network.scale)"),
        ("def input_fn():", "def scaled(x):\n    return x\n\n\ndef input_fn():"),
    ],
)
def test_an_object_of_which_more_is_asked_stays(
    tmp_path: Path, old: str, new: str
) -> None:
    assert old in TRAIN
    found = rewritten(tmp_path, network=NETWORK, train=TRAIN.replace(old, new))
    assert found == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Who reads them is not followed.
        ("class Network(object):", "class Network(Base):"),
        ("    def loss(", "    @cached\n    def loss("),
        ("return tf.losses", "yield tf.losses"),
        (
            "    def _build(self, x):\n",
            "    def _build(self, x):\n        global SCALE\n",
        ),
    ],
)
def test_a_class_that_does_more_stays(tmp_path: Path, old: str, new: str) -> None:
    assert old in NETWORK
    text = f"{NETWORK.replace(old, new)}\n\nBase, cached = object, lambda f: f\n"
    assert rewritten(tmp_path, network=text, train=TRAIN) == {}


def test_attributes_that_others_read_stay(tmp_path: Path) -> None:
    text = """\
    import tensorflow as tf


    class Model:
        def model_fn(self, features, labels, mode):
            self._build(features['x'])
            self.loss = tf.losses.mean_squared_error(labels, self.net)
            train_op = tf.train.GradientDescentOptimizer(.1).minimize(
                self.loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=self.loss, train_op=train_op)

        def _build(self, x):
            self.net = tf.layers.dense(x, 1)


    def input_fn():
        x = tf.ones((8, 2))
        return tf.data.Dataset.from_tensors(({'x': x}, x[:, :1])).repeat(5)


    model = Model()
    tf.estimator.Estimator(model.model_fn).train(input_fn)
    """
    assert "self.loss" not in rewritten(tmp_path, train=text)["train"]
    assert rewritten(tmp_path, train=dedent(text) + "print(model.loss)\n") == {}


HELPERS = """\
import tensorflow as tf

RATE = .1


def scaled(net):
    return net * 2


def metrics_of(labels, net):
    found = {}
    found['error'] = tf.metrics.mean_absolute_error(labels, scaled(net))
    return found


def train_op_of(loss, mode):
    if mode != tf.estimator.ModeKeys.TRAIN:
        return None
    optimizer = tf.train.GradientDescentOptimizer(RATE)
    return optimizer.minimize(loss, tf.train.get_global_step())
"""

WITH_HELPERS = """\
import tensorflow as tf

import helpers
from helpers import train_op_of


def model_fn(features, labels, mode):
    net = tf.layers.dense(features['x'], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'y': net})
    loss = tf.losses.mean_squared_error(labels, net)
    metrics = helpers.metrics_of(labels, net)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op_of(loss, mode), eval_metric_ops=metrics)


def input_fn():
    x = tf.ones((8, 2))
    return tf.data.Dataset.from_tensors(({'x': x}, x[:, :1])).repeat(5)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


def test_helpers_of_other_files_are_taken_as_those_of_its_own(tmp_path: Path) -> None:
    # A call within another has one result.
    text = WITH_HELPERS.replace("train_op=train_op_of(loss, mode)", "train_op=train_op")
    text = text.replace(
        "    return tf.estimator.EstimatorSpec(\n",
        "    train_op = "
        "train_op_of(loss, mode)\n    return tf.estimator.EstimatorSpec(\n",
    )
    found = rewritten(tmp_path, helpers=HELPERS, train=text)
    assert "tf_keras.optimizers.SGD(RATE)" in found["train"]
    assert "tf_keras.metrics.Mean('error')" in found["train"]
    assert found["helpers"] == "RATE = .1\n\n\ndef scaled(net):\n    return net * 2\n"


def test_a_helper_with_another_meaning_of_a_name_stays(tmp_path: Path) -> None:
    text = WITH_HELPERS.replace("def input_fn", "RATE = 2\n\n\ndef input_fn")
    assert rewritten(tmp_path, helpers=HELPERS, train=text) == {}


def test_a_class_is_taken_with_those_it_derives_from(tmp_path: Path) -> None:
    base = """

class Base(object):
    def __init__(self, features):
        self.features = features
        self.half = .5


"""
    text = NETWORK.replace("\n\nclass Network(object)", f"{base}class Network(Base)")
    text = text.replace("self).__init__()", "self).__init__(features)").replace(
        "* math.pi", "* math.pi * self.half"
    )
    found = rewritten(tmp_path, network=text, train=TRAIN)
    assert "half = .5\n        self.model = Model(half)\n" in found["train"]
    assert "class " not in found["network"]
    assert "Base" not in found["train"]
