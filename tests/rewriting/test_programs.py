"""Programs on the loop module: words renamed, one module for all who need it."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.project.files import is_ours
from tfmigrate.report.findings import Outcome, Tier
from tfmigrate.report.model import Report
from tfmigrate.rewriting.pipeline import Job
from tfmigrate.rewriting.run import one_source, run_job

Runner = Callable[..., "subprocess.CompletedProcess[str]"]

MODEL = '''\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    """One layer."""
    net = tf.layers.dense(features['x'], params['units'])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=net)
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
'''
# Nobody can tell from the text which Estimator is trained.
CHOSEN = '''\
import os

import tensorflow as tf

from model import model_fn


def build(kind, **options):
    """An Estimator by name."""
    if kind == 'small':
        return tf.estimator.Estimator(model_fn, params={'units': 1}, **options)
    return tf.estimator.Estimator(model_fn, params={'units': 2}, **options)


def input_fn():
    """A batch, again and again."""
    return tf.data.Dataset.from_tensors(({'x': [[1.]]}, [[1.]])).repeat(10)


settings = {'save_checkpoints_steps': 5}
estimator = build(os.environ['KIND'], config=tf.estimator.RunConfig(**settings))
estimator.train(input_fn, steps=3)
'''
ALONE = (
    CHOSEN.replace("from model import model_fn\n", "\n")
    .replace("def build", MODEL.partition("as tf\n")[2].strip() + "\n\n\ndef build")
    .replace("\n\n\n\n", "\n\n")
)


def project(folder: Path, **files: str) -> list[Path]:
    """Files in a folder; ``__`` in a name separates directories."""
    paths = []
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        paths.append(path)
    return sorted(paths)


def package(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text("", "utf-8")


def rewritten(paths: list[Path], **options: object) -> Report:
    job = Job(RewriteOptions(**options))  # type: ignore[arg-type]
    return run_job(paths, job)


def write(report: Report) -> None:
    """What a rewrite in place leaves."""
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)


def texts(report: Report) -> dict[str, str]:
    return {r.path.name: r.new.decode() for r in report.changed if r.new is not None}


def alone(code: str, name: str = "program.py", **options: object) -> Report:
    """The report of a text from a pipe."""
    job = Job(RewriteOptions(**options))  # type: ignore[arg-type]
    return one_source(Path(name), code.encode(), job)


def tiers(report: Report) -> list[str]:
    return sorted(r.program.tier.value for r in report.results if r.program)


# -- what stays as it is ---------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\n\nestimator = np.Estimator()\n",
        "from sklearn import estimator\n\nx = estimator.Estimator(1)\n",
        "import tensorflow as tf\n\nclass Hook(tf.compat.v1.train.SessionRunHook):\n"
        "    pass\n",
        "import training_loop\n\ne = training_loop.Estimator(model_fn)\n",
    ],
)
def test_nothing_happens(code: str) -> None:
    report = alone(code)
    assert not report.changed
    assert not report.findings


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        (
            "def read_fn(): return tf.train.limit_epochs([1], 2)\n",
            "`tf.train.limit_epochs` (program.py:LINE) reads its data through queues",
        ),
        (
            "def look_fn(): return tf.Session()\n",
            "`tf.Session` (program.py:LINE) runs a session by hand",
        ),
        (
            "def run_fn(): return tf.train.MonitoredTrainingSession()\n",
            "`tf.train.MonitoredTrainingSession` (program.py:LINE) drives a session",
        ),
        (
            "other = tf.contrib.learn.SVM('id', [])\n",
            "`tf.contrib.learn.SVM` (program.py:LINE)",
        ),
    ],
)
def test_a_program_that_needs_a_session_says_where(line: str, symbol: str) -> None:
    line_number = ALONE.count("\n") + 1
    symbol = symbol.replace("LINE", str(line_number))
    report = alone(ALONE + line)
    assert tiers(report) == ["T3"]
    reasons = [f.reason for f in report.findings if f.outcome is Outcome.LEFT]
    assert any(symbol in (reason or "") for reason in reasons)


def test_graphs_by_hand_go_on_around_the_models(tmp_path: Path) -> None:
    helper = (
        "import tensorflow as tf\n\n\ndef count():\n"
        "    with tf.Session() as session:\n        return session.run(tf.size([1]))\n"
    )
    chosen = CHOSEN.replace("import os\n", "import os\n\nfrom helper import count\n")
    asked = chosen + "tf.reset_default_graph()\nprint(count())\n"
    report = rewritten(project(tmp_path, model=MODEL, train=asked, helper=helper))
    assert tiers(report) == ["T1"]
    found = texts(report)
    assert "training_loop.build_graphs_by_hand()\n" in found["helper.py"]
    assert "build_graphs_by_hand" not in found["train.py"]
    assert "training_loop.reset_default_graph()\n" in found["train.py"]


def test_a_session_of_another_program_stands_beside(tmp_path: Path) -> None:
    """`train` here is neither `tf.train` nor the method of an Estimator."""
    helper = (
        "import tensorflow as tf\n\n\nclass Hook(tf.train.SessionRunHook):\n    pass\n"
    )
    by_hand = (
        "import tensorflow as tf\n\nfrom helper import Hook\n\n\n"
        "def train(steps):\n"
        "    with tf.train.MonitoredTrainingSession(hooks=[Hook()]) as session:\n"
        "        print(session.run(tf.train.get_or_create_global_step()), steps)\n"
        "    return tf.estimator.ModeKeys.TRAIN\n\n\n"
        "if __name__ == '__main__':\n    train(3)\n"
    )
    asked = CHOSEN.replace("import os\n", "import os\n\nfrom helper import Hook\n")
    asked = asked.replace("steps=3)", "steps=3, hooks=[Hook()])")
    files = project(tmp_path, model=MODEL, train=asked, helper=helper, by_hand=by_hand)
    report = rewritten(files)
    assert tiers(report) == ["T1"]
    found = texts(report)
    assert "training_loop.build_graphs_by_hand()\n" in found["by_hand.py"]
    assert "build_graphs_by_hand" not in found["train.py"]


def test_programs_of_several_directories_that_share_a_file(tmp_path: Path) -> None:
    second = CHOSEN.replace(
        "import os\n", "import os\nimport sys\n\nsys.path.insert(0, '..')\n"
    ).replace("from model", "from one.model")
    report = rewritten(
        project(tmp_path, one__model=MODEL, one__train=CHOSEN, two__train=second)
    )
    assert tiers(report) == ["T1", "T1"]
    written = {
        str(result.path.relative_to(tmp_path)): result.new for result in report.changed
    }
    loops = [path for path in written if path.endswith("training_loop.py")]
    assert sorted(loops) == ["one/training_loop.py", "two/training_loop.py"]
    assert b"import training_loop\n" in (written["one/model.py"] or b"")


def test_what_a_script_brings_to_an_estimator_belongs_to_it(tmp_path: Path) -> None:
    """It names no Estimator, and no file that names one imports it."""
    base = """\
import abc

import tensorflow as tf


class Trainer(abc.ABC):
    @abc.abstractmethod
    def network(self, features):
        pass

    def model_fn(self, features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, self.network(features))
        op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)

    def fit(self, input_fn):
        tf.estimator.Estimator(self.model_fn).train(input_fn, steps=3)
"""
    script = """\
import tensorflow as tf

from base import Trainer


class Wide(Trainer):
    def network(self, features):
        return tf.layers.dense(tf.layers.flatten(features), 1)


if __name__ == '__main__':
    x = tf.ones([2, 3])
    Wide().fit(lambda: tf.data.Dataset.from_tensors((x, tf.ones([2, 1]))).repeat(3))
"""
    test = "import tensorflow as tf\nimport base\n\ntf.contrib.nothing.stands(base)\n"
    report = rewritten(project(tmp_path, base=base, script=script, test_base=test))
    assert tiers(report) == ["T1"]
    found = texts(report)
    assert "class NetworkModel(" in found["script.py"]
    assert "training_loop" not in found["test_base.py"]


def test_modules_that_are_imported_by_a_computed_name_belong(tmp_path: Path) -> None:
    """Also where the folder that the program starts in looks like a package."""
    train = CHOSEN.replace("from model import model_fn", "import importlib")
    train = train.replace("os.environ", "__import__('os').environ")
    train = train.replace(
        "def build(",
        "model = importlib.import_module('nets.' + os.environ['NET'])\n"
        "model_fn = model.model_fn\n\n\ndef build(",
    )
    train = train.replace("input_fn, steps=3)", "input_fn, steps=3)  # __main__")
    net = MODEL.replace(
        "import tensorflow as tf\n", "import tensorflow as tf\n\nimport common\n"
    )
    net = net.replace("tf.layers.dense(", "common.dense(")
    common = "import tensorflow as tf\n\n\ndef dense(x, units):\n"
    common += "    return tf.layers.dense(x, units)\n"
    for folder in (tmp_path / "p", tmp_path / "p" / "nets"):
        package(folder)
    files = project(tmp_path, p__nets__net=net, p__common=common, p__train=train)
    # No name that begins with "nets." means it.
    (tmp_path / "p" / "unused.py").write_text(
        "from tensorflow.contrib.rnn import RNNCell\n\n\n"
        "class Cell(RNNCell):\n    pass\n"
    )
    report = rewritten([*files, tmp_path / "p" / "unused.py"])
    assert tiers(report) == ["T1"]
    assert b"class Dense(" in next(
        r.new or b"" for r in report.changed if r.path.name == "common.py"
    )


SEARCHING = """
import importlib

import tensorflow as tf


def model_fn(features, labels, mode, params):
    build = getattr(importlib.import_module(params['net']), 'build')
    loss = tf.reduce_mean(tf.square(build(features) - labels))
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


x = tf.ones([2, 3])
estimator = tf.estimator.Estimator(model_fn, params={'net': 'net'})
estimator.train(lambda: tf.data.Dataset.from_tensors((x, x[:, :1])).repeat(), steps=3)
"""
SEARCHED = """
from tensorflow.compat.v1.keras.initializers import he_uniform
from tensorflow.keras.layers import Dense


def build(x):
    return Dense(1, kernel_initializer=he_uniform(seed=3))(x)
"""


def test_modules_that_are_imported_by_any_name_belong(tmp_path: Path) -> None:
    """Their layers are those of the program; a module that another imports is not one."""
    other = (
        "import tensorflow as tf\nimport taken\n\nprint(taken.build(tf.ones([2, 3])))\n"
    )
    files = project(
        tmp_path, train=SEARCHING, net=SEARCHED, taken=SEARCHED, other=other
    )
    report = rewritten(files)
    assert tiers(report) == ["T2"]
    found = texts(report)
    assert "from tf_keras.layers import Dense" in found["net.py"]
    assert (
        "from tf_keras.api._v1.keras.initializers import he_uniform" in found["net.py"]
    )
    assert "tf_keras" not in found.get("taken.py", "")


def test_a_session_that_an_estimator_would_call_keeps_its_program(
    tmp_path: Path,
) -> None:
    helper = "import tensorflow as tf\n\n\ndef look():\n    return tf.Session()\n"
    asked = CHOSEN.replace("import os\n", "import os\n\nfrom helper import look\n")
    asked = asked.replace("    return tf.data", "    look()\n    return tf.data")
    report = rewritten(project(tmp_path, model=MODEL, train=asked, helper=helper))
    assert tiers(report) == ["T3"]
    reasons = [f.reason or "" for f in report.findings]
    assert any("in `input_fn`, which is handed about" in one for one in reasons)


@pytest.mark.parametrize(
    ("made", "tier"),
    [
        ("keras.applications.VGG16(False, None, input_tensor=net).output", "T3"),
        ("keras.applications.VGG16(False, None, net).output", "T3"),
        ("keras.layers.Input(tensor=net)", "T3"),
        ("keras.applications.VGG16(False, None)(net)", "T2"),
        ("keras.applications.VGG16(False, None, tf.keras.Input([9, 9, 3]))(net)", "T2"),
    ],
)
def test_a_keras_model_over_a_tensor_of_the_graph_keeps_its_program(
    made: str, tier: str
) -> None:
    """TF 1.15 made an input of the tensor; tf_keras takes none in a graph."""
    loss = "    loss = tf.losses.mean"
    assert tiers(alone(ALONE.replace(loss, f"    net = tf.{made}\n{loss}"))) == [tier]


def test_servers_that_know_nothing_of_the_program_keep_it() -> None:
    strategy = "tf.contrib.distribute.CollectiveAllReduceStrategy()"
    config = f"config = tf.estimator.RunConfig(experimental_distribute={{}}({strategy}"
    config = config.format("tf.contrib.distribute.DistributeConfig")
    assert tiers(alone(f"{ALONE}{config}, None, None))\n")) == ["T1"]
    report = alone(f"{ALONE}{config}, None, {{'worker': ['a:1', 'b:1']}}))\n")
    assert tiers(report) == ["T3"]
    reasons = [f.reason or "" for f in report.findings]
    assert any("start the program as each task" in one for one in reasons)


def test_a_name_that_means_two_things_keeps_its_program(tmp_path: Path) -> None:
    train = CHOSEN.replace(
        "import tensorflow as tf\n",
        "import tensorflow as tf\nfrom tensorflow import estimator\n",
    ).replace("return tf.", "return ")
    report = rewritten(project(tmp_path, model=MODEL, train=train))
    assert "training_loop.py" not in texts(report)


def test_a_session_on_a_graph_of_its_own_is_no_obstacle() -> None:
    line = "with tf.Graph().as_default(), tf.Session() as session:\n    pass\n"
    assert tiers(alone(ALONE + line)) == ["T1"]


# -- doors to a word ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("imported", "said", "imports_now", "says_now"),
    [
        ("", "tf.estimator.Estimator", "", "training_loop.Estimator"),
        (
            "from tensorflow.estimator import Estimator\n",
            "Estimator",
            "from training_loop import Estimator\n",
            "Estimator",
        ),
        (
            "from tensorflow.estimator import Estimator as Model\n",
            "Model",
            "from training_loop import Estimator as Model\n",
            "Model",
        ),
        (
            "from tensorflow.python.estimator.estimator import Estimator\n",
            "Estimator",
            "from training_loop import Estimator\n",
            "Estimator",
        ),
        (
            "from tensorflow.python.estimator import estimator as lib\n",
            "lib.Estimator",
            "",
            "training_loop.Estimator",
        ),
        (
            "from tensorflow import estimator as tf_estimator\n",
            "tf_estimator.Estimator",
            "",
            "training_loop.Estimator",
        ),
        (
            "import tensorflow.compat.v1 as tf1\n",
            "tf1.estimator.Estimator",
            "",  # nobody else read it
            "training_loop.Estimator",
        ),
        (
            "import tensorflow\n",
            "tensorflow.estimator.Estimator",
            "",  # nobody else read it
            "training_loop.Estimator",
        ),
        (
            "est = tf.estimator\n",
            "est.Estimator",
            "est = training_loop\n",
            "est.Estimator",
        ),
        (
            "Model = tf.estimator.Estimator\n",
            "Model",
            "Model = training_loop.Estimator\n",
            "Model",
        ),
        (
            "",
            "getattr(tf, 'estimator').Estimator",
            "",
            "training_loop.Estimator",
        ),
    ],
)
def test_every_door(
    tmp_path: Path, imported: str, said: str, imports_now: str, says_now: str
) -> None:
    chosen = CHOSEN.replace(
        "import tensorflow as tf\n", f"import tensorflow as tf\n{imported}"
    ).replace("return tf.estimator.Estimator(", f"return {said}(")
    report = rewritten(project(tmp_path, model=MODEL, train=chosen))
    text = texts(report)["train.py"]
    compile(text, "train.py", "exec")
    assert text.count(f"return {says_now}(model_fn,") == 2
    assert imports_now in text
    if not imports_now and imported:
        assert imported not in text
    assert "tf.estimator" not in text
    assert "tensorflow.estimator" not in text
    assert tiers(report) == ["T1"]


def test_other_words_of_kept_code_have_homes(tmp_path: Path) -> None:
    model = MODEL.replace(
        "    loss =",
        "    scale = tf.Variable(1.)\n"
        "    net = tf.keras.layers.Dense(1)(net) * scale\n"
        "    net = tf.contrib.layers.layer_norm(net)\n"
        "    cell = tf.nn.rnn_cell.LSTMCell(2)\n"
        "    net = (lambda x: tf.layers.dense(x, 1))(net)\n"
        "    loss =",
    )
    report = rewritten(project(tmp_path, model=model, train=CHOSEN))
    found = texts(report)
    text = found["model.py"]
    assert "layers_v1.dense(features['x']" in text
    assert "tf.compat.v1.Variable(1.)" in text
    assert "tf_keras.layers.Dense(1)" in text
    assert "tf_contrib.layer_norm(net)" in text
    assert "rnn_cell_v1.LSTMCell(2)" in text
    assert "tf.compat.v1.train.AdamOptimizer(0.1)" in text
    assert "def layer_norm(" in found["tf_contrib.py"]
    assert set(found) == {"model.py", "train.py", "training_loop.py", "tf_contrib.py"}


def test_an_import_of_a_package_goes_where_nothing_hangs_on_it(
    tmp_path: Path,
) -> None:
    tpu_dense = MODEL.replace(
        "import tensorflow as tf\n",
        "import tensorflow as tf\nfrom tensorflow.contrib import tpu as contrib_tpu\n",
    ).replace("tf.estimator.EstimatorSpec", "contrib_tpu.TPUEstimatorSpec")
    found = texts(rewritten(project(tmp_path, model=tpu_dense, train=CHOSEN)))
    assert "contrib" not in found["model.py"]
    assert "training_loop.TPUEstimatorSpec" in found["model.py"]
    assert "tf_contrib.py" not in found


def test_keras_of_tf1_is_kept(tmp_path: Path) -> None:
    """Gates, random numbers and batch norm differ under the same names."""
    model = MODEL.replace(
        "import tensorflow as tf\n",
        "import tensorflow as tf\n"
        "from tensorflow.python.keras import layers\n"
        "from tensorflow.keras.layers import GRUCell\n",
    ).replace(
        "    loss =",
        "    first = tf.keras.initializers.TruncatedNormal(stddev=.1)\n"
        "    net = tf.keras.layers.Dense(4, kernel_initializer=first)(net)\n"
        "    net = tf.keras.layers.BatchNormalization()(net)\n"
        "    net = layers.LSTM(2)(net[:, None])\n"
        "    net = tf.keras.layers.RNN(GRUCell(2))(net[:, None])\n"
        "    loss =",
    )
    report = rewritten(project(tmp_path, model=model, train=CHOSEN))
    text = texts(report)["model.py"]
    assert "from tf_keras.api._v1 import keras as keras_v1" in text
    assert "keras_v1.initializers.TruncatedNormal(stddev=.1)" in text
    assert " tf_keras.layers.Dense(4" in text
    assert "keras_v1.layers.BatchNormalization()" in text
    assert "keras_v1.layers.LSTM(2)" in text
    assert "from tf_keras.api._v1.keras.layers import GRUCell" in text
    assert " tf_keras.layers.RNN(GRUCell(2))" in text
    # The same words in a program that names TF 2 are TF 2's.
    train = CHOSEN.replace("settings =", "tf.random.set_seed(1)\n\nsettings =")
    report = rewritten(project(tmp_path, model=_OF_NO_ERA, train=train))
    assert "tf_keras.layers.LSTM(2)" in texts(report)["model.py"]


_OF_NO_ERA = '''\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    """A recurrent layer."""
    net = tf.keras.layers.LSTM(2)(features['x'][:, None])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=net)
    loss = tf.reduce_mean(net - labels)
    train_op = tf.compat.v1.train.AdamOptimizer(0.1).minimize(
        loss, tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
'''


def test_what_a_written_loop_cannot_name_is_copied(tmp_path: Path) -> None:
    """All is in plain sight but for the data, which a module of TF 1 reads."""
    train = """\
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

data = input_data.read_data_sets('digits')
estimator = tf.estimator.DNNClassifier(
    [tf.feature_column.numeric_column('x', [784])], hidden_units=[5], n_classes=10)
estimator.train(tf.estimator.inputs.numpy_input_fn(
    {'x': data.train.images}, data.train.labels.astype('int32'), shuffle=False))
"""
    report = rewritten(project(tmp_path, train=train))
    found = texts(report)
    assert tiers(report) == ["T1"]
    assert "input_data.read_data_sets('digits')" in found["train.py"]
    assert "import tf_contrib as input_data" in found["train.py"]
    assert "def read_data_sets(" in found["tf_contrib.py"]


def test_a_package_of_a_package_is_the_copy(tmp_path: Path) -> None:
    """`slim.losses` as a value: copies of packages have no packages in them."""
    model = MODEL.replace(
        "import tensorflow as tf\n",
        "import tensorflow as tf\n\nslim = tf.contrib.slim\nlosses = slim.losses\n",
        1,
    ).replace("tf.losses.mean_squared_error(", "losses.mean_squared_error(", 1)
    report = rewritten(project(tmp_path, model=model, train=CHOSEN))
    text = texts(report)["model.py"]
    assert "slim = tf_contrib\nlosses = tf_contrib\n" in text
    assert "losses.mean_squared_error(" in text


def test_iterators_know_where_they_are(tmp_path: Path) -> None:
    train = CHOSEN.replace(
        ".repeat(10)", ".repeat(10).make_one_shot_iterator().get_next()"
    )
    report = rewritten(project(tmp_path, model=MODEL, train=train))
    expected = (
        "    return training_loop.make_one_shot_iterator("
        "tf.data.Dataset.from_tensors(({'x': [[1.]]}, [[1.]])).repeat(10)).get_next()\n"
    )
    text = texts(report)["train.py"]
    assert "".join(expected.split()) in "".join(text.split())
    assert "def make_one_shot_iterator" in texts(report)["training_loop.py"]


def test_layers_are_asked_by_functions_for_what_they_made(tmp_path: Path) -> None:
    asks = """
class Tower:
    def names(self):
        return self.updates, [u for one in self.layers for u in one.updates]

    def ops(self, model, x):
        model.updates.append(x)
        model.updates = []
        self.settings.updates("x")
        return model.get_updates_for(inputs=x) + model.get_losses_for(None)

    def optimizer(self, name):
        return getattr(tf.train, name + "Optimizer")(0.1)
"""
    report = rewritten(project(tmp_path, model=MODEL, train=CHOSEN + asks))
    text = texts(report)["train.py"]
    for line in (
        "self.updates, [u for one in self.layers for u in training_loop.updates_of(one)]",
        "training_loop.updates_of(model).append(x)",
        "model.updates = []",
        'self.settings.updates("x")',
        "training_loop.get_updates_for(model, inputs=x)",
        "training_loop.get_losses_for(model, None)",
        # Names that a program computes are those of TensorFlow 1.
        'getattr(tf.compat.v1.train, name + "Optimizer")(',
    ):
        assert "".join(line.split()) in "".join(text.split())
    assert "def updates_of" in texts(report)["training_loop.py"]


def test_eager_execution_is_not_turned_off() -> None:
    code = ALONE.replace(
        "settings =", "tf.compat.v1.disable_v2_behavior()\n\nsettings ="
    )
    (result,) = alone(code).changed
    assert b"disable_v2_behavior" not in (result.new or b"")
    assert b"\n\n\nsettings =" in (result.new or b"")
    assert b"\n\n\n\nsettings =" not in (result.new or b"")


# -- where the module stands ---------------------------------------------------------


def test_one_module_for_two_programs_beside_them(tmp_path: Path) -> None:
    other = ALONE.replace(
        "input_fn, steps=3)", "input_fn)\nestimator.latest_checkpoint()"
    )
    report = rewritten(project(tmp_path, one=ALONE, two=other))
    found = texts(report)
    assert set(found) == {"one.py", "two.py", "training_loop.py"}
    assert "import training_loop\n" in found["one.py"]
    module = found["training_loop.py"]
    assert is_ours(module)
    assert "def latest_checkpoint" in module
    assert "def train_and_evaluate" not in module  # nobody says it
    assert "import tfmigrate" not in module
    assert "from tfmigrate" not in module
    (added,) = (r for r in report.changed if r.added)
    assert added.path == tmp_path / "training_loop.py"
    assert [f.rule for f in added.findings] == ["TFM107"]


def test_relative_imports_stay_relative(tmp_path: Path) -> None:
    package(tmp_path / "app")
    package(tmp_path / "app" / "models")
    paths = project(
        tmp_path,
        app__models__model=MODEL,
        app__train=CHOSEN.replace("from model", "from .models.model"),
    )
    found = texts(rewritten(paths))
    assert "from . import training_loop\n" in found["train.py"]
    assert "from .. import training_loop\n" in found["model.py"]


def test_a_folder_that_only_looks_like_a_package(tmp_path: Path) -> None:
    """Its parent may be where `python -m` is started, whatever it holds."""
    package(tmp_path / "app")
    package(tmp_path / "app" / "trainer")
    paths = project(
        tmp_path,
        app__trainer__model=MODEL
        + "\n\ndef other():\n    return tf.estimator.DNNRegressor([2], [])\n",
        app__trainer__task=CHOSEN.replace("from model", "from .model"),
    )
    report = rewritten(paths)
    for name in ("task.py", "model.py"):
        assert "from . import training_loop\n" in texts(report)[name]
    assert "\nfrom .training_loop import " in texts(report)["tf_contrib.py"]
    folder = tmp_path / "app" / "trainer"
    assert {r.path.parent for r in report.changed if r.added} == {folder}


def test_absolute_imports_name_the_package(tmp_path: Path) -> None:
    package(tmp_path / "app")
    paths = project(
        tmp_path,
        app__model=MODEL,
        run=CHOSEN.replace("from model", "from app.model"),
    )
    report = rewritten(paths)
    found = texts(report)
    assert "from app import training_loop\n" in found["run.py"]
    assert "from app import training_loop\n" in found["model.py"]
    (added,) = (r for r in report.changed if r.added)
    assert added.path == tmp_path / "app" / "training_loop.py"


def test_a_file_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    paths = project(tmp_path, model=MODEL, train=CHOSEN, training_loop="X = 1\n")
    report = rewritten(paths)
    assert tiers(report) == ["T3"]
    (reason,) = {
        f.reason for f in report.findings if f.outcome is Outcome.LEFT and f.tier
    }
    assert reason is not None
    assert "training_loop.py is there and is none of ours" in reason
    named = rewritten(paths, loop_module="loops")
    assert tiers(named) == ["T1"]
    assert "import loops\n" in texts(named)["train.py"]
    assert "loops.py" in texts(named)


def test_a_name_that_is_taken_in_the_file(tmp_path: Path) -> None:
    train = CHOSEN.replace("settings =", "training_loop = 3\nsettings =")
    report = rewritten(project(tmp_path, model=MODEL, train=train))
    assert "import training_loop as training_loop_2\n" in texts(report)["train.py"]


def test_text_from_a_pipe_holds_the_module_itself() -> None:
    report = alone(ALONE)
    (result,) = report.changed
    assert result.new is not None
    text = result.new.decode()
    compile(text, "program.py", "exec")
    assert "class Estimator:" in text
    assert "training_loop" not in text
    assert "return Estimator(model_fn, params={'units': 1}, **options)" in text
    assert tiers(report) == ["T1"]
    again = alone(text)
    assert not again.changed


def test_names_of_the_program_win_inside_its_file() -> None:
    code = ALONE.replace(
        "def input_fn", "class RunConfig(object):\n    pass\n\n\ndef input_fn"
    )
    (result,) = alone(code).changed
    text = (result.new or b"").decode()
    compile(text, "program.py", "exec")
    names = [n.name for n in ast.parse(text).body if isinstance(n, ast.ClassDef)]
    assert len(names) == len(set(names))
    assert "class RunConfig(object):" in text


def notebook(*cells: str) -> str:
    """A notebook with some code cells, each with an id."""
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(keepends=True),
        }
        for number, text in enumerate(cells)
    ]
    whole = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1) + "\n"


def test_a_notebook_gets_a_cell() -> None:
    head, _, rest = ALONE.partition("def build")
    rest, _, last = rest.partition("settings =")
    cells = (
        "!pip install tensorflow==1.15\nimport os\nimport tensorflow as tf",
        head.partition("as tf\n")[2].strip(),
        f"def build{rest}".strip(),
        f"%matplotlib inline\nsettings ={last}".strip(),
        "estimator = build('small')\nestimator.train(input_fn, steps=1)",
    )
    source = notebook(*cells)
    report = alone(source, "program.ipynb")
    (result,) = report.changed
    assert result.new is not None
    new = json.loads(result.new)["cells"]
    assert len(new) == len(cells) + 1
    assert tiers(report) == ["T1"]
    sources = ["".join(cell["source"]) for cell in new]
    assert sources[0].startswith("!pip install tensorflow==1.15\n")
    assert "class Estimator:" in sources[1]
    assert len({cell["id"] for cell in new}) == len(new)
    assert new[1].keys() == new[0].keys()
    assert sources[4].startswith("%matplotlib inline\n")
    assert sources[5] == cells[4]
    # What did not change has its bytes.
    assert json.dumps(json.loads(source)["cells"][4], indent=1) in json.dumps(
        new[5], indent=1
    )
    assert not alone(result.new.decode(), "program.ipynb").changed


# -- later runs --------------------------------------------------------------------------


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    paths = project(tmp_path, model=MODEL, train=CHOSEN)
    write(rewritten(paths))
    again = rewritten(sorted(tmp_path.glob("*.py")))
    assert not again.changed
    assert not [f for f in again.findings if f.outcome is not Outcome.ADVICE]


def test_a_later_file_adds_to_the_module(tmp_path: Path) -> None:
    (first,) = project(tmp_path, one=ALONE)
    (second,) = project(
        tmp_path,
        two=ALONE.replace(
            "estimator.train(input_fn, steps=3)",
            "tf.estimator.train_and_evaluate(\n"
            "    estimator, tf.estimator.TrainSpec(input_fn, 3),\n"
            "    tf.estimator.EvalSpec(input_fn, steps=1))",
        ),
    )
    write(rewritten([first, second]))
    module = tmp_path / "training_loop.py"
    both = module.read_text("utf-8")
    assert "def train_and_evaluate" in both
    third = project(
        tmp_path, three=ALONE.replace("steps=3)", "steps=3)\nestimator.predict")
    )
    write(rewritten([*third, module]))
    more = module.read_text("utf-8")
    assert "def train_and_evaluate" in more
    assert "def predict" in more
    compile(more, "training_loop.py", "exec")


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    names = {f"p{n}": ALONE.replace("'KIND'", f"'KIND{n}'") for n in range(9)}
    paths = project(tmp_path, model=MODEL, train=CHOSEN, **names)
    one = run_job(paths, Job(), jobs=1)
    two = run_job(paths, Job(), jobs=2)
    assert texts(one) == texts(two)
    assert one.findings == two.findings


def test_the_command_line_adds_mirrors_and_takes_back(
    tmp_path: Path, tfmigrate: Runner
) -> None:
    folder = tmp_path / "project"
    project(folder, model=MODEL, train=CHOSEN)
    before = {path.name: path.read_bytes() for path in folder.glob("*.py")}
    shown = tfmigrate("rewrite", ".", "--diff", cwd=folder)
    assert "+++ b/training_loop.py" in shown.stdout
    out = tfmigrate("rewrite", ".", "--out", tmp_path / "out", cwd=folder)
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "out" / "training_loop.py").is_file()
    assert not (folder / "training_loop.py").exists()
    done = tfmigrate("rewrite", ".", "--allow-dirty", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "training_loop.py").is_file()
    undone = tfmigrate("undo", cwd=folder)
    assert undone.returncode == 0, undone.stderr
    assert {path.name: path.read_bytes() for path in folder.glob("*.py")} == before


# -- style -------------------------------------------------------------------------------

PLAIN = (
    MODEL
    + '''

def input_fn():
    """A batch, again and again."""
    return tf.data.Dataset.from_tensors(({'x': [[1.]]}, [[1.]])).repeat(10)


estimator = tf.estimator.Estimator(model_fn, '/tmp/model', params={'units': 1})
estimator.train(input_fn, steps=3)
'''
)


def test_auto_writes_a_loop_where_all_is_in_plain_sight() -> None:
    report = alone(PLAIN)
    assert tiers(report) == ["T1"]
    assert b"class Estimator" not in (report.changed[0].new or b"")


def test_module_is_taken_when_asked_for() -> None:
    report = alone(PLAIN, style="module")
    assert tiers(report) == ["T1"]
    (finding,) = (f for f in report.findings if f.tier is Tier.NATIVE)
    assert "asked for by --style module" in finding.message


def test_the_report_says_why_not_inline() -> None:
    (finding, *_) = (f for f in alone(ALONE).findings if f.rule == "TFM106")
    assert "no loop of its own, for " in finding.message


def test_a_name_that_is_no_module(tfmigrate: Runner, tmp_path: Path) -> None:
    project(tmp_path, model=MODEL)
    done = tfmigrate("scan", "model.py", "--loop-module", "a/b.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "not the name of a module" in done.stderr


def test_two_estimators_of_one_built_model_fn_end() -> None:
    code = (
        MODEL
        + """

def builder(units):
    def built(features, labels, mode):
        return model_fn(features, labels, mode, {'units': units})
    return built


built = builder(1)
one = tf.estimator.Estimator(built, '/tmp/one')
two = tf.estimator.Estimator(built, '/tmp/two')
one.train(lambda: tf.data.Dataset.from_tensors(({'x': [[1.]]}, [[1.]])))
two.train(lambda: tf.data.Dataset.from_tensors(({'x': [[1.]]}, [[1.]])))
"""
    )
    assert tiers(alone(code)) == ["T1"]


def test_a_diff_is_a_few_lines(tmp_path: Path) -> None:
    # Its layers stay, so that there is no class to write.
    model = MODEL.replace("tf.layers.dense", "(lambda *a: tf.layers.dense(*a))")
    report = rewritten(project(tmp_path, model=model, train=CHOSEN))
    assert tiers(report) == ["T2"]
    for result in report.changed:
        if not result.added:
            assert result.new is not None
            assert result.new.count(b"\n") <= 1.3 * result.old.count(b"\n")
