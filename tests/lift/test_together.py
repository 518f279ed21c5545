"""Model functions on the loop module whose layers become a Keras class."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.around import on_module
from tfmigrate.around.lifting import Lifting, lifted_together
from tfmigrate.options import RewriteOptions
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.model import Report
from tfmigrate.rewriting.pipeline import Job

from .here import run_here

CHILD = Path(__file__).with_name("child.py")

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


def rewritten(folder: Path, code: str, **options: object) -> Report:
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(code, "utf-8")
    job = Job(RewriteOptions(**options))  # type: ignore[arg-type]
    return run_here([folder / "program.py"], job)


def text(report: Report) -> str:
    (result,) = (r for r in report.changed if not r.added)
    assert result.new is not None
    return result.new.decode()


def tier(report: Report) -> str:
    (result,) = (r for r in report.results if r.program)
    assert result.program is not None
    return result.program.tier.value


def left(tmp_path: Path, code: str) -> list[str]:
    """Why the model functions of a program keep their layers."""
    found = alone(tmp_path, code)
    assert not found.made
    return [reason for _, reason in found.left]


def alone(tmp_path: Path, code: str) -> Lifting:
    path = tmp_path / "program.py"
    path.write_text(code, "utf-8")
    facts = ProjectFacts((path,))
    (found,) = lifted_together([facts.load(path, path.read_bytes())], facts)
    return found


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
    assert left(tmp_path, code) == []


def test_the_class_has_the_layers_and_the_function_the_rest(tmp_path: Path) -> None:
    report = rewritten(tmp_path, PROGRAM)
    made = text(report)
    assert tier(report) == "T1"
    assert "class Model(training_loop.ScopedModel):" in made
    assert "class Block(training_loop.ScopedLayer):" in made
    assert "    model = Model(params)\n" in made
    assert "    out = model(features, is_training)\n" in made
    assert "# one number" in made
    assert "tf.compat.v1.train.AdamOptimizer(0.05)" in made
    assert "def build(**options):" in made
    assert "layers.dense(" not in made


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
    (told,) = left(tmp_path, PROGRAM.replace(old, new))
    assert reason in told


def test_a_model_function_that_stays_keeps_what_it_calls(tmp_path: Path) -> None:
    other = PROGRAM[PROGRAM.index("def model_fn") : PROGRAM.index("def data")]
    other = other.replace("def model_fn", "def other_fn")
    other = other.replace("tf.layers.dense(net, 1", "params['net'](net, 1")
    report = rewritten(tmp_path, PROGRAM.replace("def data", f"{other}def data"))
    assert tier(report) == "T2"
    made = text(report)
    assert "class Block(" in made
    assert "def block(net" in made
    kept = made[made.index("def other_fn") :]
    assert 'net = block(features["x"]' in kept
    assert "ScopedModel" in made[: made.index("def other_fn")]


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
    found = alone(tmp_path, code)
    assert found.made, found.left
    assert "ScopedModel" in found.parsed.source.text


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
    found = alone(tmp_path, CROWDED)
    assert found.made, found.left
    made = found.parsed.source.text
    assert "# more of it" in made
    # What has no part in the model is not touched.
    assert "def data(): a = [[1.0]]; return" in made
    assert tier(rewritten(tmp_path, CROWDED)) == "T1"


def test_lines_are_not_set_apart_in_vain(tmp_path: Path) -> None:
    code = "import house\n" + CROWDED.replace("tf.layers.dense(a", "house.dense(a")
    found = alone(tmp_path, code)
    assert not found.made
    assert found.parsed.source.text == code
    ((line, _),) = found.left
    assert "house.dense" in code.splitlines()[line - 1]


def test_a_model_without_targets_is_one(tmp_path: Path) -> None:
    code = CROWDED.replace("features, labels, mode", "features, mode")
    code = code.replace("error(labels, b)", "error(a, b)")
    assert alone(tmp_path, code).made


def test_checkpoints_of_the_kept_function_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, slots and figures are those of the model function as it was."""
    plain = tmp_path / "plain"
    plain.mkdir()

    def put(name: str, loop: str, directory: str, steps: int, after: str = "") -> None:
        code = PROGRAM.replace("DIRECTORY", repr(str(tmp_path / directory)))
        code = code.replace("STEPS", str(steps)) + after
        report = rewritten(tmp_path / name, code, loop_module=loop)
        for result in report.changed:
            assert result.new is not None
            path = plain / result.path.name
            if not result.added:
                path = plain / f"{name}.py"
            path.write_bytes(result.new)

    put("layers", "loop_of_layers", "two", 12)
    monkeypatch.setattr(on_module, "kept_because", lambda *_: "it is asked for")
    copied = f"shutil.copytree({str(tmp_path / 'one')!r}, {str(tmp_path / 'two')!r})\n"
    put("first", "loop_of_function", "one", 6, copied)
    put("more", "loop_of_function", "one", 12)
    output = tmp_path / "found.json"
    names = ["first", "more", "layers"]
    done = subprocess.run(
        [sys.executable, CHILD, "plain", plain, output, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(output.read_text("utf-8"))
    assert all("error" not in found[name] for name in names), done.stderr[-3000:]
    before, after = found["more"]["result"], found["layers"]["result"]
    assert before["global_step"] == after["global_step"] == 12
    assert set(before) == set(after)
    assert "part_3/dense/kernel/Adam_1" in after
    assert "batch_normalization/moving_mean" in after
    # The same kernels on the same values, perhaps summed in another order.
    assert after == pytest.approx(before, rel=2e-5, abs=1e-6)
    assert after != pytest.approx(found["first"]["result"], rel=1e-3)


TPU = """\
import tensorflow as tf
{}


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return {}.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def data(params):
    return tf.data.Dataset.from_tensors(([[1.0]], [[1.0]])).repeat(9)


config = {}.RunConfig()
estimator = {}.TPUEstimator(model_fn, False, config, None, 1)
estimator.train(data, steps=3)
"""


@pytest.mark.parametrize(
    ("line", "classes", "configs"),
    [
        ("", "tf.contrib.tpu", "tf.contrib.tpu"),
        ("", "tf.estimator.tpu", "tf.estimator.tpu"),
        (
            "from tensorflow.contrib.tpu.python.tpu import tpu_config, tpu_estimator",
            "tpu_estimator",
            "tpu_config",
        ),
    ],
)
def test_estimators_of_tpus_have_layers_by_whatever_name(
    line: str, classes: str, configs: str, tmp_path: Path
) -> None:
    code = TPU.format(line, classes, configs, classes)
    report = rewritten(tmp_path, code, style="module")
    assert tier(report) == "T1"
    assert "training_loop.TPUEstimator(" in text(report)
