"""Programs of one file or several become native: one training module for all of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tfmigrate.project.files import is_ours
from tfmigrate.report.findings import Outcome, ProgramOutcome
from tfmigrate.report.model import Report
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import one_source, run_job

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
NET = """

class Net(object):
    def __init__(self, units, x):
        self.units = units
        self.made = self.build(x)

    def build(self, x):
        return tf.layers.dense(x, self.units)

    def result(self):
        return 2. * self.made

"""
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


settings = tf.estimator.RunConfig(save_checkpoints_steps=5)
estimator = build(os.environ['KIND'], config=settings)
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


def rewritten(paths: list[Path]) -> Report:
    return run_job(paths, Job())


def write(report: Report) -> None:
    """What a rewrite in place leaves."""
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)


def texts(report: Report) -> dict[str, str]:
    return {r.path.name: r.new.decode() for r in report.changed if r.new is not None}


def alone(code: str, name: str = "program.py") -> Report:
    """The report of a text from a pipe."""
    return one_source(Path(name), code.encode(), Job())


def outcomes(report: Report) -> list[str]:
    return sorted(program.outcome.value for _, program in report.programs)


# -- what is none ------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\n\nestimator = np.Estimator()\n",
        "from sklearn import estimator\n\nx = estimator.Estimator(1)\n",
        "import tensorflow as tf\n\nclass Hook(tf.compat.v1.train.SessionRunHook):\n"
        "    pass\n",
        "import training\n\ne = training.Trainer(Task)\n",
    ],
)
def test_nothing_happens(code: str) -> None:
    report = alone(code)
    assert not report.changed
    assert not report.findings


# -- which files are one program ---------------------------------------------------


def test_a_program_whose_model_is_in_another_file(tmp_path: Path) -> None:
    report = rewritten(project(tmp_path, model=MODEL, train=CHOSEN))
    assert outcomes(report) == ["native"]
    found = texts(report)
    assert set(found) == {"model.py", "train.py", "training.py"}
    assert "(Task):" in found["model.py"]
    assert found["train.py"].count("return Trainer(") == 2


@pytest.mark.parametrize("method", ["__call__", "build"])
def test_a_network_of_another_file(tmp_path: Path, method: str) -> None:
    called = "Net(params['units'])" + f".{method}".removesuffix(".__call__")
    model = MODEL.replace(
        "tf.layers.dense(features['x'], params['units'])", f"{called}(features['x'])"
    )
    model = model.replace("as tf\n", "as tf\n\nfrom nets import Net\n", 1)
    nets = f"""\
import tensorflow as tf


class Net(object):
    def __init__(self, units):
        self.units = units

    def _scaled(self, x):
        return tf.layers.dense(2. * x, self.units)

    def {method}(self, x):
        return tf.nn.relu(self._scaled(x))
"""
    report = rewritten(project(tmp_path, model=model, nets=nets, train=CHOSEN))
    assert outcomes(report) == ["native"]
    found = texts(report)
    assert "class Net(tf_keras.Model):" in found["nets.py"]
    assert "    def call(self, x):" in found["nets.py"]
    assert "self.model = Net(params['units'])" in found["model.py"]


def test_a_network_that_its_constructor_builds_is_no_other(tmp_path: Path) -> None:
    layer = "tf.layers.dense(features['x'], params['units'])"
    asked = "Net(params['units'], features['x']).result()"
    code = CHOSEN.replace(
        "from model import model_fn\n", NET + MODEL.partition("tf\n")[2]
    )
    assert outcomes(alone(code.replace(layer, asked))) == ["native"]


def test_scopes_of_a_third_file_around_a_function_of_its_modules_name(
    tmp_path: Path,
) -> None:
    scoped = """\
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    with tf.contrib.slim.arg_scope(scopes.net_scope(is_training)):
        net = nets.nets(features['x'], params['units'])
"""
    layer = "    net = tf.layers.dense(features['x'], params['units'])\n"
    imports = "as tf\n\nimport nets\nimport scopes\n\nslim = tf.contrib.slim\n"
    model = MODEL.replace(layer, scoped.replace("tf.contrib.slim.", "slim."))
    model = model.replace("as tf\n", imports, 1)
    nets = """\
import tensorflow as tf
import tensorflow.contrib.slim as slim


def block(x, units):
    return slim.fully_connected(x, units)


def nets(x, units):
    return slim.fully_connected(block(x, 3), units, activation_fn=None)
"""
    scopes = """\
import tensorflow as tf

slim = tf.contrib.slim


def net_scope(is_training, decay=.9):
    params = {'is_training': is_training, 'decay': decay}
    with slim.arg_scope([slim.fully_connected], normalizer_fn=slim.batch_norm,
                        normalizer_params=params):
        with slim.arg_scope([slim.batch_norm], **params) as sc:
            return sc
"""
    report = rewritten(
        project(tmp_path, model=model, nets=nets, scopes=scopes, train=CHOSEN)
    )
    assert outcomes(report) == ["native"]
    found = texts(report)
    assert "contrib" not in "".join(found.values())
    assert "self.fully_connected(self.block(x, training=training)" in found["nets.py"]
    assert "net_scope" not in "".join(found.values())


def test_what_another_file_asks_a_trainer_for(tmp_path: Path) -> None:
    more = "import train\n\nprint(list(train.estimator.predict(train.input_fn)))\n"
    files = project(tmp_path, model=MODEL, train=CHOSEN, show=more)
    assert "def predict(" in texts(rewritten(files))["training.py"]
    alone = [one for one in files if one.stem != "show"]
    assert "def predict(" not in texts(rewritten(alone))["training.py"]


def test_a_file_that_was_not_given_keeps_its_program(tmp_path: Path) -> None:
    project(tmp_path, model=MODEL)
    report = rewritten(project(tmp_path, train=CHOSEN))
    assert outcomes(report) == ["kept"]
    (told,) = (f for f in report.findings if f.outcome is Outcome.LEFT)
    assert told.reason == "model.py, which belongs to it, is not among the files given"


def test_programs_of_several_directories_that_share_a_file(tmp_path: Path) -> None:
    head = "import sys\n\nsys.path.append('..')\n"
    train = head + CHOSEN.replace("from model", "from shared.model")
    package(tmp_path / "shared")
    paths = project(tmp_path, shared__model=MODEL, one__train=train, two__train=train)
    report = rewritten([*paths, tmp_path / "shared" / "__init__.py"])
    assert outcomes(report) == ["native"] * 2
    (added,) = report.added
    assert added.path == tmp_path / "shared" / "training.py"


def test_a_test_that_brings_something_to_an_estimator_is_no_program(
    tmp_path: Path,
) -> None:
    tests = "import tensorflow as tf\nimport model\n\ntf.contrib.nothing.x(model)\n"
    report = rewritten(project(tmp_path, model=MODEL, train=CHOSEN, test_model=tests))
    assert outcomes(report) == ["native"]


def test_what_takes_a_model_function_takes_its_task(tmp_path: Path) -> None:
    """Also where it has no word of TensorFlow itself."""
    train = CHOSEN.replace("from model import", "from hub import")
    hub = "from model import model_fn\n"
    report = rewritten(project(tmp_path, model=MODEL, train=train, hub=hub))
    assert outcomes(report) == ["native"]
    found = texts(report)
    assert "model_fn" not in found["hub.py"]
    taken = found["hub.py"].split()[-1]
    assert f"class {taken}(Task):" in found["model.py"]
    assert f"from hub import {taken}\n" in found["train.py"]


def test_a_test_of_a_model_function_is_told(tmp_path: Path) -> None:
    tests = (
        "import tensorflow as tf\nfrom model import model_fn\n\nmodel_fn(tf.ones(1))\n"
    )
    report = rewritten(project(tmp_path, model=MODEL, train=CHOSEN, test_model=tests))
    assert outcomes(report) == ["native"]
    told = [f.message for f in report.findings if f.path.name == "model.py"]
    assert "`model_fn` is no more, which test_model.py names" in told


@pytest.mark.parametrize(
    ("run", "then"),
    [
        ("session.run(batch)", "next(batch)"),
        ("session.run(tf.Variable(1))", "tf.compat.v1.Session("),
    ],
    ids=["that looks at data", "that does something else"],
)
def test_a_session_of_a_test(tmp_path: Path, run: str, then: str) -> None:
    tests = (
        "import tensorflow as tf\nfrom train import input_fn\n\n\n"
        "def test_data():\n"
        "    batch = input_fn().make_one_shot_iterator().get_next()\n"
        "    with tf.Session() as session:\n"
        f"        print({run})\n"
    )
    paths = project(tmp_path, model=MODEL, train=CHOSEN, test_data=tests)
    report = rewritten(paths)
    assert outcomes(report) == ["native"]
    assert then in texts(report)["test_data.py"]


def test_a_test_that_trains_is_a_program(tmp_path: Path) -> None:
    """Whatever becomes of it, it is told; here its session keeps it."""
    tests = CHOSEN + "with tf.Session() as session:\n    session.run(tf.Variable(1))\n"
    report = rewritten(project(tmp_path, model=MODEL, test_train=tests))
    assert outcomes(report) == ["kept"]


def test_files_of_python_2_are_one_program_with_others(tmp_path: Path) -> None:
    train = CHOSEN.replace("estimator.train(", "print 'Training'\nestimator.train(")
    paths = project(tmp_path, model=MODEL, train=train)
    report = run_job(paths, Job(py2=True))
    assert outcomes(report) == ["native"]
    found = texts(report)
    assert set(found) == {"model.py", "train.py", "training.py"}
    assert "print('Training')\n" in found["train.py"]
    # Without the option they are told.
    assert "train.py" not in texts(rewritten(paths))


# -- where the module stands ---------------------------------------------------------


def test_one_module_for_two_programs_beside_it(tmp_path: Path) -> None:
    other = ALONE.replace("steps=3)", "steps=3)\nprint(*estimator.predict(input_fn))")
    report = rewritten(project(tmp_path, one=ALONE, two=other))
    found = texts(report)
    assert set(found) == {"one.py", "two.py", "training.py"}
    assert "from training import RunConfig, Task, Trainer\n" in found["one.py"]
    module = found["training.py"]
    assert is_ours(module)
    assert "def predict" in module
    assert "def train_and_evaluate" not in module  # nobody says it
    assert "import tfmigrate" not in module
    (added,) = report.added
    assert added.path == tmp_path / "training.py"
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
    assert "from .training import RunConfig, Trainer\n" in found["train.py"]
    assert "from ..training import Task\n" in found["model.py"]


def test_a_folder_whose_files_import_relatively_is_a_package(tmp_path: Path) -> None:
    """It is started with `python -m`, also where no file says that it is one."""
    program = CHOSEN.replace("from model", "from .model")
    found = texts(rewritten(project(tmp_path, app__model=MODEL, app__train=program)))
    assert "from .training import RunConfig, Trainer\n" in found["train.py"]
    assert "from .training import Task\n" in found["model.py"]


LOOKS = "import tensorflow as tf\n\n\ndef shown(x):\n    return tf.shape(x)\n"


def test_what_only_a_script_asks_for_is_beside_it(tmp_path: Path) -> None:
    """A package that it imports, which may be installed elsewhere, gets nothing."""
    package(tmp_path / "looks")
    program = "from looks.shown import shown\n" + ALONE
    report = rewritten(project(tmp_path, looks__shown=LOOKS, one=program))
    (added,) = report.added
    assert added.path == tmp_path / "training.py"
    assert "from training import " in texts(report)["one.py"]


def test_a_notebook_is_alone_whatever_it_imports(tmp_path: Path) -> None:
    package(tmp_path / "looks")
    paths = project(tmp_path, looks__shown=LOOKS)
    path = tmp_path / "program.ipynb"
    path.write_text(notebook("from looks.shown import shown", *CELLS), "utf-8")
    report = rewritten([*paths, path])
    assert not report.added
    assert "class Trainer:" in texts(report)["program.ipynb"]


def test_a_folder_that_only_looks_like_a_package(tmp_path: Path) -> None:
    """Its parent may be where `python -m` is started, whatever it holds."""
    package(tmp_path / "app")
    package(tmp_path / "app" / "trainer")
    paths = project(
        tmp_path,
        app__trainer__model=MODEL,
        app__trainer__task=CHOSEN.replace("from model", "from .model"),
    )
    report = rewritten(paths)
    for name in ("task.py", "model.py"):
        assert "from .training import " in texts(report)[name]
    folder = tmp_path / "app" / "trainer"
    assert {r.path.parent for r in report.added} == {folder}


def test_absolute_imports_name_the_package(tmp_path: Path) -> None:
    package(tmp_path / "app")
    paths = project(
        tmp_path, app__model=MODEL, run=CHOSEN.replace("from model", "from app.model")
    )
    report = rewritten(paths)
    found = texts(report)
    assert "from app.training import RunConfig, Trainer\n" in found["run.py"]
    assert "from app.training import Task\n" in found["model.py"]
    (added,) = report.added
    assert added.path == tmp_path / "app" / "training.py"


@pytest.mark.parametrize(
    "more",
    [
        {"training": "X = 1\n"},
        {"training__parts": "X = 1\n"},
        {"other": "from training import X\n"},
    ],
    ids=["a file", "a folder", "a module that is installed"],
)
def test_another_name_where_the_project_has_one_of_its_own(
    more: dict[str, str], tmp_path: Path
) -> None:
    paths = project(tmp_path, model=MODEL, train=CHOSEN, **more)
    report = rewritten(paths)
    assert outcomes(report) == ["native"]
    found = texts(report)
    assert "from training_loop import RunConfig, Trainer\n" in found["train.py"]
    assert set(found) == {"model.py", "train.py", "training_loop.py"}


def test_a_script_does_not_import_itself(tmp_path: Path) -> None:
    # Beside the model, and run where Python would find itself first.
    above = "import os\nimport sys\n\nsys.path.append('..')\n"
    code = CHOSEN.replace("import os\n", above, 1)
    paths = project(tmp_path, model=MODEL, tools__training=code)
    report = rewritten(paths)
    assert outcomes(report) == ["native"]
    assert "from training_loop import RunConfig" in texts(report)["training.py"]


def test_no_name_is_left(tmp_path: Path) -> None:
    taken = dict.fromkeys(("training", "training_loop", "tf2_training"), "X = 1\n")
    report = rewritten(project(tmp_path, model=MODEL, train=CHOSEN, **taken))
    assert outcomes(report) == ["kept"]
    (told,) = {f.reason for f in report.findings if f.outcome is Outcome.LEFT}
    assert told is not None
    assert "modules of its own called training, training_loop" in told


# -- inside of a text or a notebook -------------------------------------------------


def test_text_from_a_pipe_holds_the_module_itself() -> None:
    report = alone(ALONE)
    (result,) = report.changed
    assert result.new is not None
    text = result.new.decode()
    compile(text, "program.py", "exec")
    assert "class Trainer:" in text
    assert "import training" not in text
    assert "from training" not in text
    assert outcomes(report) == ["native"]
    again = alone(text)
    assert not again.changed


def test_names_of_the_program_keep_it_in_a_pipe() -> None:
    code = ALONE.replace(
        "def input_fn", "def split(x):\n    return x\n\n\ndef input_fn"
    )
    report = alone(code)
    assert outcomes(report) == ["kept"]
    (told,) = report.findings
    assert told.reason == "it has a `split` of its own, as its training loop does"


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


CELLS = (
    "!pip install tensorflow==1.15\nimport os\nimport tensorflow as tf",
    MODEL.partition("as tf\n")[2].strip(),
    "def build" + CHOSEN.partition("def build")[2].partition("settings =")[0].strip(),
    "%matplotlib inline\nsettings =" + CHOSEN.partition("settings =")[2].strip(),
)


def test_a_notebook_gets_a_cell() -> None:
    source = notebook(*CELLS)
    report = alone(source, "program.ipynb")
    assert outcomes(report) == ["native"]
    (result,) = report.changed
    assert result.new is not None
    new = json.loads(result.new)["cells"]
    assert len(new) == len(CELLS) + 1
    sources = ["".join(cell["source"]) for cell in new]
    assert sources[0].startswith("!pip install tensorflow==1.15\n")
    assert "class Trainer:" in sources[1]
    assert "from training" not in "".join(sources)
    assert len({cell["id"] for cell in new}) == len(new)
    assert new[1].keys() == new[0].keys()
    assert "(Task):" in sources[2]
    assert sources[4].startswith("%matplotlib inline\n")
    assert not alone(result.new.decode(), "program.ipynb").changed


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("    net = ", "    with slim.arg_scope(f()):\n        net = ", "cell 2:3)"),
        ("train_op=train_op", "train_op=train_op, host_call=f", "(cell 2, line 8)"),
    ],
)
def test_places_of_a_notebook_are_cells(before: str, after: str, place: str) -> None:
    cells = [text.replace(before, after) for text in CELLS]
    cells[0] += "\nfrom tensorflow.contrib import slim"
    (told,) = alone(notebook(*cells), "program.ipynb").programs
    assert (told[1].reason or "").endswith(place)


def test_a_notebook_that_has_such_names_has_the_module_beside_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "program.ipynb"
    path.write_text(notebook(*CELLS, "def split(x):\n    return x"), "utf-8")
    report = rewritten([path])
    assert outcomes(report) == ["native"]
    found = texts(report)
    assert set(found) == {"program.ipynb", "training.py"}
    assert "from training import " in found["program.ipynb"]


# -- later runs --------------------------------------------------------------------------


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    paths = project(tmp_path, model=MODEL, train=CHOSEN)
    write(rewritten(paths))
    again = rewritten(sorted(tmp_path.glob("*.py")))
    assert not again.changed
    assert not again.findings


LATER = {
    "three": ALONE.replace("steps=3)", "steps=3)\nprint(*estimator.predict(input_fn))")
}


def test_a_later_file_adds_to_the_module(tmp_path: Path) -> None:
    write(rewritten(project(tmp_path, one=ALONE)))
    module = tmp_path / "training.py"
    first = module.read_text("utf-8")
    assert "def predict" not in first
    write(rewritten([*project(tmp_path, **LATER), module]))
    more = module.read_text("utf-8")
    assert "def predict" in more
    compile(more, "training.py", "exec")
    # What asks for nothing more leaves it.
    report = rewritten([*project(tmp_path, four=ALONE), module])
    assert set(texts(report)) == {"four.py"}


def test_a_module_that_somebody_changed_keeps_its_text(tmp_path: Path) -> None:
    write(rewritten(project(tmp_path, one=ALONE)))
    module = tmp_path / "training.py"
    changed = module.read_text("utf-8").replace("class Task:", "class Task(object):")
    module.write_text(changed, "utf-8")
    # A program that finds in it what it needs becomes native, and it is told.
    report = rewritten([*project(tmp_path, two=ALONE), module])
    assert set(texts(report)) == {"two.py"}
    (told,) = (f for f in report.findings if f.path == module)
    assert (told.rule, told.outcome) == ("TFM107", Outcome.ADVICE)
    # One that does not is kept.
    report = rewritten([*project(tmp_path, **LATER), module])
    assert outcomes(report) == ["kept"]
    assert module.read_text("utf-8") == changed
    (left,) = (f for f in report.findings if f.program is ProgramOutcome.KEPT)
    assert left.reason is not None
    assert left.reason.startswith("training.py was changed since it was written, and")
    assert "`Task.predictions`" in left.reason


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
    assert "+++ b/training.py" in shown.stdout
    out = tfmigrate("rewrite", ".", "--out", tmp_path / "out", cwd=folder)
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "out" / "training.py").is_file()
    assert not (folder / "training.py").exists()
    done = tfmigrate("rewrite", ".", "--allow-dirty", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "training.py").is_file()
    undone = tfmigrate("undo", cwd=folder)
    assert undone.returncode == 0, undone.stderr
    assert {path.name: path.read_bytes() for path in folder.glob("*.py")} == before


@pytest.mark.parametrize(
    "made",
    [
        "tf.contrib.timeseries.ARRegressor(10, 10, 10, 1)",
        "tf.contrib.factorization.KMeansClustering(num_clusters=3)",
        "tf.contrib.learn.KMeansClustering(3)",
        "tf.estimator.experimental.KMeans(3)",
    ],
)
def test_estimators_of_contrib_keep_their_program(tmp_path: Path, made: str) -> None:
    text = f"import tensorflow as tf\n\nmodel = {made}\nmodel.train(tf.input_fn)\n"
    report = run_job(project(tmp_path, program=text), Job())
    ((_, program),) = report.programs
    assert program.outcome is ProgramOutcome.KEPT
    assert [one.rule for one in report.results[0].findings] == ["TFM103"]


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (
            "models.BestEstimator(tf.feature_column.numeric_column('x'))",
            "BestEstimator",
        ),
        ("models.build(tf.estimator.RunConfig('out'))", "build"),
    ],
)
def test_a_trainer_of_a_package_keeps_its_program(
    tmp_path: Path, made: str, name: str
) -> None:
    text = "import tensorflow as tf\nfrom their.library import models\n\n"
    text += f"model = {made}\nmodel.train(tf.input_fn)\n"
    program = project(tmp_path, program=text)
    ((_, told),) = run_job(program, Job()).programs
    assert told.outcome is ProgramOutcome.KEPT
    why = f"its trainer, `their.library.models.{name}`, is of `their`, which is not"
    assert why in (told.reason or "")
    # A package among the files is seen by itself.
    package(tmp_path / "their" / "library")
    (tmp_path / "their" / "library" / "models.py").write_text("")
    assert not any(
        "its trainer" in (p.reason or "") for _, p in rewritten(program).programs
    )
