"""A training program whose model_fn, input and hooks lie in other files."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.project import facts as facts_module
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.sources import Source, load_source
from tfmigrate.rewrite.pipeline import Job, process_file

PROJECT = Path(__file__).resolve().parents[2] / "fixtures/legacy/churn_package"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project that may be rewritten in place."""
    copy = tmp_path / "project"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def rewrite(*targets: Path, options: tuple[str, ...] = ()) -> str:
    """Run the command line in place; returns what it printed."""
    result = subprocess.run(
        [
            *(sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty"),
            *options,
            *map(str, targets),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert result.returncode in (0, 1), result.stderr
    return result.stdout


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def keeps_its_estimator(project: Path) -> bool:
    """Nothing half done: the main program and the model are as they were."""
    main = (project / "churn/main.py").read_text("utf-8")
    model = (project / "churn/model.py").read_text("utf-8")
    kept = "tf.estimator.Estimator(" in main and "import churn_model_fn" in main
    assert kept == ("def churn_model_fn(" in model)
    return kept


# -- what may not move: the files would no longer fit each other ---------------


def test_main_alone_is_not_moved(project: Path) -> None:
    rewrite(project / "churn/main.py")
    assert keeps_its_estimator(project)


def is_native(project: Path) -> bool:
    """A Trainer is in the Estimator's place, and a Task in that of the model_fn."""
    main = (project / "churn/main.py").read_text("utf-8")
    model = (project / "churn/model.py").read_text("utf-8")
    return (
        (project / "churn/training.py").is_file()
        and "Trainer(" in main
        and "(Task):" in model
        and "tf.estimator" not in main + model
    )


def test_a_model_fn_that_a_test_uses_is_a_task_for_it_too(project: Path) -> None:
    test = project / "tests/test_model.py"
    test.write_text(
        "from churn.model import churn_model_fn\n\nassert callable(churn_model_fn)\n"
    )
    rewrite(project)
    assert is_native(project)
    assert "churn_model_fn" not in test.read_text("utf-8")


def test_a_silenced_program_is_not_moved(project: Path) -> None:
    edit(
        project / "churn/main.py",
        "estimator = tf.estimator.Estimator(",
        "estimator = tf.estimator.Estimator(  # tfmigrate: ignore",
    )
    rewrite(project)
    assert keeps_its_estimator(project)


def test_an_ignored_file_is_not_touched(project: Path) -> None:
    model = project / "churn/model.py"
    model.write_text("# tfmigrate: ignore-file\n" + model.read_text("utf-8"), "utf-8")
    rewrite(project)
    assert keeps_its_estimator(project)


def test_names_that_mean_two_things_are_not_mixed(project: Path) -> None:
    edit(project / "churn/model.py", '"""The network."""', "def rate():\n    return 1")
    rewrite(project)
    assert is_native(project)


def test_a_module_that_is_called_like_a_part_of_a_task(project: Path) -> None:
    main = project / "churn/main.py"
    edit(main, "from .model import churn_model_fn as model_fn", "from . import model")
    edit(main, "model_fn=model_fn,", "model_fn=model.churn_model_fn,")
    rewrite(project)
    assert is_native(project)


# -- what moves -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "from .model import churn_model_fn as model_fn",
            "from . import model as nets",
        ),
        (
            "from .model import churn_model_fn as model_fn",
            "import churn.model as nets",
        ),
    ],
)
def test_module_imports_keep_their_style(project: Path, old: str, new: str) -> None:
    main = project / "churn/main.py"
    edit(main, old, new)
    edit(main, "model_fn=model_fn,", "model_fn=nets.churn_model_fn,")
    rewrite(project)
    assert is_native(project)
    text = main.read_text("utf-8")
    assert new in text
    assert "nets.Churn" in text


def test_each_file_gets_its_own_share(project: Path) -> None:
    printed = rewrite(project)
    assert "1 training program: 1 native" in printed
    assert is_native(project)
    read = {p.stem: p.read_text("utf-8") for p in (project / "churn").glob("*.py")}
    original = {p.stem: p.read_text("utf-8") for p in (PROJECT / "churn").glob("*.py")}
    assert read["config"] == original["config"]
    assert read["data"] == original["data"]
    for text in read.values():
        assert "import tfmigrate" not in text
        assert "tf.estimator" not in text
    # Another run, with as many processes as it likes, changes nothing.
    again = {p: p.read_bytes() for p in project.rglob("*.py")}
    rewrite(project, options=("--jobs", "2"))
    assert again == {p: p.read_bytes() for p in project.rglob("*.py")}


SCORES = """\
import numpy as np
import tensorflow as tf

LEVEL = 0.5


def _hits(labels, scores):
    return tf.metrics.recall(labels, scores > LEVEL)


def metrics_of(labels, scores, weights=None):
    lib = {'recall': _hits(labels, scores)}  # as another file calls this one
    lib['mean'] = tf.metrics.mean(scores, weights)
    return lib


def percent(share):
    return '%d %%' % np.round(100 * share)
"""
TRAIN = """\
import tensorflow as tf
{line}


def model_fn(features, labels, mode):
    scores = tf.layers.dense(features['x'], 1, tf.sigmoid)
    loss = tf.losses.log_loss(labels, scores)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    metrics = {asked}metrics_of(labels, scores)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


estimator = tf.estimator.Estimator(model_fn)
print({asked}percent(estimator.evaluate(input_fn)['recall']))
"""


@pytest.mark.parametrize(
    ("line", "asked", "level"),
    [
        ("import scores as lib", "lib.", "lib.LEVEL"),
        ("from scores import metrics_of, percent", "", "LEVEL"),
    ],
)
def test_metrics_of_another_file_come_to_the_task(
    tmp_path: Path, line: str, asked: str, level: str
) -> None:
    (tmp_path / "scores.py").write_text(SCORES)
    main = tmp_path / "main.py"
    main.write_text(TRAIN.format(line=line, asked=asked))
    assert "1 training program: 1 native" in rewrite(tmp_path)
    text = main.read_text()
    assert f"update_state(labels, scores > {level})" in text
    assert ("from scores import percent, LEVEL" in text) is (not asked)
    left = (tmp_path / "scores.py").read_text()
    assert "metrics_of" not in left
    assert "_hits" not in left
    assert "def percent" in left
    # A file of somebody else's that takes it keeps the program.
    main.write_text(TRAIN.format(line=line, asked=asked))
    (tmp_path / "scores.py").write_text(SCORES)
    (tmp_path / "training.py").unlink()
    (tmp_path / "other.py").write_text("from scores import metrics_of\n")
    assert "1 kept" in rewrite(tmp_path)
    assert (tmp_path / "scores.py").read_text() == SCORES


def test_an_object_of_another_file_comes_to_the_task(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(
        "import copy\n\nimport tensorflow as tf\n\nLEVEL = 0.5\n\n\nclass Net(object):\n"
        "    def __init__(self, config, x):\n"
        "        self.config = copy.copy(config)\n"
        "        self.scores = self._build(x)\n\n"
        "    def _build(self, x):\n"
        "        return tf.layers.dense(x, 1, tf.sigmoid)\n\n"
        "    def metrics(self, labels):\n"
        "        return {'recall': tf.metrics.recall(labels, self.scores > LEVEL)}\n"
    )
    main = tmp_path / "main.py"
    text = TRAIN.format(line="from nets import Net", asked="net.")
    text = text.replace("metrics_of(labels, scores)", "metrics(labels)")
    text = text.replace("net.percent(", "(").replace(
        "tf.layers.dense(features['x'], 1, tf.sigmoid)",
        "Net({}, features['x'])\n    scores = net.scores",
    )
    main.write_text(text.replace("    scores = Net", "    net = Net"))
    assert "1 training program: 1 native" in rewrite(tmp_path)
    text = main.read_text()
    assert "from nets import LEVEL" in text
    assert "copy" not in text
    assert "update_state(labels, scores > LEVEL)" in text
    assert (tmp_path / "nets.py").read_text() == "LEVEL = 0.5\n"


@pytest.mark.parametrize("told", ["", ", mode == tf.estimator.ModeKeys.TRAIN"])
def test_no_network_of_another_file_is_made_at_each_step(
    tmp_path: Path, told: str
) -> None:
    (tmp_path / "nets.py").write_text(
        "import tensorflow as tf\n\n\nclass Net(object):\n"
        "    def __init__(self, units, training=False):\n"
        "        self.units = units\n        self.rate = 0.5 if training else 0.0\n\n"
        "    def __call__(self, x):\n"
        "        return tf.nn.dropout(tf.layers.dense(x, self.units), rate=self.rate)\n"
    )
    main = tmp_path / "main.py"
    text = TRAIN.format(line="import nets", asked="").replace("percent(", "(")
    text = text.replace("metrics_of(labels, scores)", "{}").replace(
        "scores = tf.layers.dense(features['x'], 1, tf.sigmoid)",
        f"net = nets.Net(4{told})\n    hidden = net(features['x'])\n"
        "    scores = tf.layers.dense(hidden, 1, tf.sigmoid)",
    )
    main.write_text(text)
    report = rewrite(tmp_path)
    if told:  # it came to the model function
        assert "1 training program: 1 native" in report
        assert "rate = 0.5 if training else 0.0\n" in main.read_text()
        return
    assert "the model_fn makes several models, `nets.Net` and" in report
    # One that a module holds is none of the Task's either.
    held = (tmp_path / "nets.py").read_text() + "\n\nheld = Net(4)\n"
    (tmp_path / "nets.py").write_text(held)
    text = text.replace("    net = nets.Net(4)\n", "")
    text = text.replace("import nets", "from nets import held")
    main.write_text(text.replace("= net(", "= held("))
    assert "the model_fn makes several models, `held` for one" in rewrite(tmp_path)


@pytest.mark.parametrize("inside", [False, True])
def test_a_scope_around_layers_of_another_file_is_not_lost(
    tmp_path: Path, inside: bool
) -> None:
    slim = "import tensorflow as tf\n\nslim = tf.contrib.slim\n\n\n"
    net = (
        "def small(x):\n    x = slim.fully_connected(x, 8, scope='one')\n"
        "    return slim.fully_connected(x, 1, activation_fn=None, scope='two')\n"
    )
    call = "nets.small(features['x'])"
    (tmp_path / "nets.py").write_text(slim + net)
    text = TRAIN.format(line="import nets\n\nslim = tf.contrib.slim", asked="")
    text = text.replace("metrics_of(labels, scores)", "{}").replace("percent(", "(")
    scope = "with slim.arg_scope([slim.fully_connected], activation_fn=tf.nn.elu):\n"
    scores = f"scores = {call}" if not inside else f"scores = middle({call[11:]}"
    text = text.replace(
        "scores = tf.layers.dense(features['x'], 1, tf.sigmoid)",
        f"{scope}        {scores}",
    )
    if inside:
        middle = "def middle(x):\n    return nets.small(tf.square(x))\n\n\n"
        text = text.replace("def model_fn", f"{middle}def model_fn")
    (tmp_path / "main.py").write_text(text)
    printed = rewrite(tmp_path)
    if not inside:
        layer = "tf_keras.layers.Dense(8, activation=tf.nn.elu, name='one')"
        assert layer in (tmp_path / "nets.py").read_text()
        return
    assert "1 kept" in printed
    assert "an arg_scope is around the calls of `small` (main.py:" in printed


def test_the_projects_own_tests_pass_after_the_rewrite(project: Path) -> None:
    rewrite(project)
    result = subprocess.run(
        [sys.executable, *("-m", "unittest", "discover", "-t", ".", "tests")],
        cwd=project,
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Ran 7 tests" in result.stderr


def test_a_web_of_modules_is_not_read_once_for_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a module that makes an Estimator is a reason to read what it imports."""
    files = []
    for number in range(250):
        near = range(number + 1, min(number + 4, 250))
        files.append(tmp_path / f"m{number:03}.py")
        files[-1].write_text(
            "import tensorflow as tf  # Estimator\n"
            + "".join(f"import m{other:03}\n" for other in near)
            + "def f(x):\n    return tf.log(x)"
            + "".join(f" + m{other:03}.f(x)" for other in near)
            + "\n"
        )
    parsed: list[Path] = []

    def load(path: Path, raw: bytes) -> Source:
        parsed.append(path)
        return load_source(path, raw)

    monkeypatch.setattr(facts_module, "load_source", load)
    facts = ProjectFacts(tuple(files))
    # In an order in which what was read last is of little use.
    mixed = random.Random(1).sample(files, len(files))
    results = [process_file(file, Job(), facts) for file in mixed]
    assert all(result.new is not None for result in results)
    assert len(parsed) < 5 * len(files)


PARTS = """\
import tensorflow as tf

_LOSSES = {}
OPTIMIZERS = {'sgd': tf.train.GradientDescentOptimizer}


def register(name):
    def put(function):
        _LOSSES[name] = function
        return function
    return put


def loss_of(name, **options):
    function = _LOSSES[name]
    return lambda labels, scores: function(labels, scores, **options)


@register('squared')
def squared(labels, scores, weight=1.0):
    return tf.losses.mean_squared_error(labels, scores, weights=weight)
"""
OF_PARTS = """\
import numpy as np
import tensorflow as tf

import parts


def model_fn(features, labels, mode, params):
    scores = tf.layers.dense(features, 1)
    loss = parts.loss_of(params['loss'], weight=params['weight'])(labels, scores)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    train_op = parts.OPTIMIZERS[params['optimizer']](0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.ones((8, 2), np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4)


estimator = tf.estimator.Estimator(
    model_fn, params={'loss': 'squared', 'weight': 0.5, 'optimizer': 'sgd'})
estimator.train(input_fn)
"""


def test_tables_of_another_file(tmp_path: Path) -> None:
    parts, program = tmp_path / "parts.py", tmp_path / "train.py"
    parts.write_text(PARTS, "utf-8")
    program.write_text(OF_PARTS, "utf-8")
    assert "train.py: native" in rewrite(parts, program)
    assert "'sgd': lambda learning_rate: tf_keras.optimizers.SGD(" in parts.read_text()
    text = program.read_text("utf-8")
    assert "self.optimizer = parts.OPTIMIZERS[params['optimizer']](0.1)" in text
    assert "parts.loss_of(self.params['loss'], weight=self.params['weight'])(" in text


def test_a_class_of_a_table_that_gets_more_than_a_rate(tmp_path: Path) -> None:
    """What another file gives it as well, a function of the rate does not take."""
    parts, program = tmp_path / "parts.py", tmp_path / "train.py"
    parts.write_text(PARTS, "utf-8")
    program.write_text(OF_PARTS.replace("](0.1)", "](0.1, True)"), "utf-8")
    assert "`tf.train.GradientDescentOptimizer` (parts.py, line 4) is not called" in (
        rewrite(parts, program)
    )


NETS = """\
import tensorflow as tf
from made import register


@register()
def flat(x):
    return tf.layers.dense(x, 1)


@register('deep')
def deep(x):
    return tf.layers.dense(tf.layers.dense(x, 3), 1)


NETS = {'flat': flat, 'deep': deep}


def network_of(name):
    if name not in NETS:
        raise ValueError('no network %s' % name)
    return NETS[name]
"""
TESTED = """\
def network_of(name):
    if name == 'flat':
        return flat
    return deep
"""
MADE = """\
NETS = {}


def register(name=None):
    def put(function):
        NETS[name or function.__name__] = function
        return function
    return put
"""
REGISTER = re.compile(r"from made.*\n|@register.*\n")
TABLE = re.compile(r"(?s)\n\nNETS =.*")


@pytest.mark.parametrize(
    ("line", "called", "nets", "made"),
    [
        ("import nets", "nets.network_of({})", TABLE.sub(TESTED, NETS), ""),
        ("from nets import network_of", "network_of({})", TABLE.sub(TESTED, NETS), ""),
        ("from nets import NETS", "NETS[{}]", NETS.partition("\n\n\ndef net")[0], ""),
        ("import nets", "nets.network_of({})", NETS, ""),
        ("import nets, made", "made.NETS[{}]", TABLE.sub("", NETS), MADE),
    ],
)
def test_networks_that_another_file_chooses(
    line: str, called: str, nets: str, made: str, tmp_path: Path
) -> None:
    """Behind tests of a function, from a table, or registered by a third file."""
    (tmp_path / "nets.py").write_text(nets if made else REGISTER.sub("", nets))
    if made:
        (tmp_path / "made.py").write_text(made)
    text = TRAIN.format(line=line, asked="").replace("percent(", "(")
    text = text.replace("metrics_of(labels, scores)", "{}").replace(
        "tf.layers.dense(features['x'], 1, tf.sigmoid)",
        called.format("params['network']") + "(features['x'])",
    )
    text = text.replace("labels, mode", "labels, mode, params", 1)
    main = tmp_path / "main.py"
    main.write_text(text)
    assert "1 training program: 1 native" in rewrite(tmp_path), text
    written = main.read_text()
    deep = "nets.Deep()" if "import nets" in line else "Deep()"
    assert f"            self.deep = {deep}\n" in written
    assert "if params['network'] == 'flat':" in written
    left = written + (tmp_path / "nets.py").read_text()
    assert not any(word in left for word in ("NETS", "network_of", "register"))


BASE = """\
import tensorflow as tf


class Base(object):
    def __init__(self, rate, units=2):
        self.rate = rate
        self.units = units

    def model_fn(self, features, labels, mode):
        scores = self.scores_of(features['x'])
        loss = tf.losses.log_loss(labels, scores)
        train_op = tf.train.AdamOptimizer(self.rate).minimize(
            loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
DERIVED = """\
import tensorflow as tf
from base import Base


class Net(Base):
    def __init__(self):
        super(Net, self).__init__(0.1, units=4)

    def scores_of(self, x):
        return tf.layers.dense(tf.layers.dense(x, self.units), 1, tf.sigmoid)


tf.estimator.Estimator(Net().model_fn).train(input_fn)
"""


@pytest.mark.parametrize("other", ["", "from base import Base\n\nOTHER = Base(1)\n"])
def test_a_base_of_one_class_is_merged_into_it(other: str, tmp_path: Path) -> None:
    base, main = tmp_path / "base.py", tmp_path / "main.py"
    base.write_text(BASE)
    main.write_text(DERIVED)
    (tmp_path / "other.py").write_text(other)
    assert ("main.py: native" in rewrite(tmp_path)) is not bool(other)
    left = main.read_text() + base.read_text()
    assert ("self.rate = 0.1\n        self.units = 4\n" in left) is not bool(other)
    assert ("class Base" in left) is bool(other)
