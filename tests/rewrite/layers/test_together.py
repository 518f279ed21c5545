"""Model functions whose layers become a Keras class, in the words of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.code.blocked import Blocked
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.layers.together import lifted_together
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

# Scopes, a helper, a variable, a layer in a loop, updates and a regularizer.
PROGRAM = '''\
import shutil

import numpy as np
import tensorflow as tf


def block(net, units, is_training):
    net = tf.layers.dense(net, units, kernel_initializer=tf.constant_initializer(0.3))
    return tf.layers.batch_normalization(net, training=is_training)


def model_fn(features, labels, mode, params):
    """Some layers."""
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    net = block(features["x"], params["units"], is_training)
    for size in params["sizes"]:
        with tf.variable_scope("part_%d" % size):
            net = tf.layers.dense(
                net, size, tf.nn.tanh,
                kernel_initializer=tf.constant_initializer(0.1 * size),
                kernel_regularizer=tf.contrib.layers.l2_regularizer(0.01))
    scale = tf.get_variable("scale", [3], initializer=tf.ones_initializer())
    net = tf.layers.dropout(net * scale, 0.0, training=is_training)
    out = tf.layers.dense(net, 1, name="out")  # one number
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out)
    loss += tf.losses.get_regularization_loss()
    tf.summary.scalar("mean", tf.reduce_mean(out))
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"error": tf.metrics.mean_absolute_error(labels, out)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.AdamOptimizer(0.05)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    y = x[:, :1] - 2.0 * x[:, 1:2]
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


def forever():
    return data().repeat()


def build(**options):
    return tf.estimator.Estimator(model_fn, **options)


estimator = build(model_dir=DIRECTORY, params={"units": 4, "sizes": [2, 3]})
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
'''


def alone(tmp_path: Path, code: str) -> str:
    """A lifted program."""
    path = tmp_path / "program.py"
    path.write_text(code, "utf-8")
    facts = ProjectFacts((path,))
    (found,) = lifted_together([facts.load(path, path.read_bytes())], facts)
    return found.source.text


@pytest.mark.parametrize(
    "code",
    [
        "",
        "import tensorflow as tf\n\nnet = tf.layers.dense(x, 1)\n",
        "import tensorflow as tf\n\n\ndef net(features, units):\n"
        "    return tf.layers.dense(features, units)\n",
    ],
)
def test_nothing_to_lift(code: str, tmp_path: Path) -> None:
    assert alone(tmp_path, code) == code


def test_the_class_has_the_layers_and_the_function_the_rest(tmp_path: Path) -> None:
    made = alone(tmp_path, PROGRAM)
    assert "class Model(tf.estimator.ScopedModel):" in made
    assert "class Block(tf.estimator.ScopedLayer):" in made
    assert "    model = Model(params)\n" in made
    assert "    out = model(features, is_training)\n" in made
    assert "# one number" in made
    assert "tf.train.AdamOptimizer(0.05)" in made
    assert "def build(**options):" in made
    assert "tf.layers.dense(" not in made


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "net = block(features",
            "net = params['net'](features",
            "may make variables",
        ),
        ("net = block(", "net = tf.map_fn(lambda x: tf.layers.dense(x, 1), ", "layers"),
    ],
)
def test_what_is_not_lifted_keeps_its_words(
    old: str, new: str, reason: str, tmp_path: Path
) -> None:
    assert old in PROGRAM
    with pytest.raises(Blocked, match=reason):
        alone(tmp_path, PROGRAM.replace(old, new))


def test_a_method_has_a_class(tmp_path: Path) -> None:
    code = (
        "import tensorflow as tf\n\n\nclass Holder:\n"
        "    def __init__(self, units):\n        self.units = units\n\n"
        "    def model_fn(self, features, labels, mode):\n"
        "        net = tf.layers.dense(features, self.units)\n"
        "        loss = tf.losses.mean_squared_error(labels, net)\n"
        "        step = tf.train.get_global_step()\n"
        "        train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step)\n"
        "        return tf.estimator.EstimatorSpec(\n"
        "            mode, loss=loss, train_op=train_op)\n\n\n"
        "estimator = tf.estimator.Estimator(Holder(3).model_fn)\n"
        "estimator.train(data, steps=3)\n"
    )
    assert "ScopedModel" in alone(tmp_path, code)


CROWDED = """\
import tensorflow as tf


def net(x, deep):
    if deep: x = tf.layers.dense(x, 8); x = tf.nn.relu(x)  # more of it
    for n in (4, 2): x = tf.layers.dense(x, n)
    return x


def model_fn(features, labels, mode):
    a = net(features["x"], True); b = tf.layers.dense(a, 1)
    loss = tf.losses.mean_squared_error(labels, b)
    if mode == "eval": return tf.estimator.EstimatorSpec(mode, loss=loss)
    step = tf.train.get_global_step()
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(): a = [[1.0]]; return tf.data.Dataset.from_tensors(({"x": a}, a))


tf.estimator.Estimator(model_fn).train(data, steps=3)
"""


def test_several_statements_on_one_line(tmp_path: Path) -> None:
    made = alone(tmp_path, CROWDED)
    assert "# more of it" in made
    # What has no part in the model is not touched.
    assert "def data(): a = [[1.0]]; return" in made


def test_lines_are_not_set_apart_in_vain(tmp_path: Path) -> None:
    code = "import house\n" + CROWDED.replace("tf.layers.dense(a", "house.dense(a")
    with pytest.raises(Blocked) as stop:
        alone(tmp_path, code)
    assert "house.dense" in code.splitlines()[stop.value.line - 1]


def test_a_model_without_targets_is_one(tmp_path: Path) -> None:
    code = CROWDED.replace("features, labels, mode", "features, mode")
    code = code.replace("error(labels, b)", "error(a, b)")
    assert "ScopedModel" in alone(tmp_path, code)


def test_a_string_that_says_a_function_s_name_keeps_no_copy(tmp_path: Path) -> None:
    """A flag, a comment or the name of a layer is no call."""
    (tmp_path / "blocks.py").write_text(
        "import tensorflow as tf\n\n\n"
        "def gated(x, units):\n"
        "    table = tf.get_variable('table', [units, units])\n"
        "    return x * tf.sigmoid(tf.matmul(tf.layers.dense(x, units), table))\n"
    )
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom blocks import gated\n\n"
        "KIND = 'gated'  # gated or plain\n\n\n"
        "def model_fn(features, labels, mode):\n"
        "    net = gated(tf.layers.dense(features, 4, name='gated'), 4)\n"
        "    output = tf.layers.dense(net, 1)\n"
        "    loss = tf.losses.mean_squared_error(labels, output)\n"
        "    op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)\n\n\n"
        "tf.estimator.Estimator(model_fn).train(input_fn)\n"
    )
    report = run_job(sorted(tmp_path.iterdir()), Job())
    ((_, program),) = report.programs
    assert program.outcome is ProgramOutcome.NATIVE, program.reason
    texts = {one.path.name: (one.new or b"").decode() for one in report.changed}
    assert "class Gated(" in texts["blocks.py"]
    assert "def gated" not in texts["blocks.py"]
