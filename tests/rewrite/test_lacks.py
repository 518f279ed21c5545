"""A program that moves is judged with all of its files: what one of them would not
find on plain TensorFlow keeps all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tfmigrate.names.surface import gone
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.lacks import lacks_of
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.report.model import Report
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

MAIN = """\
import tensorflow as tf

import util


def model_fn(features, labels, mode):
    y = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors(([[1.0, 2.0]], [[3.0]])).repeat(8)


if __name__ == "__main__":
    estimator = tf.estimator.Estimator(model_fn, "model")
    estimator.train(data, steps=util.STEPS)
"""
STEPS = "STEPS = 3\n"
# NumPy has dropped it, and no other name does the same.
GONE = "np.asscalar(np.ones(1))"
AT_ONCE = f"import numpy as np\nimport tensorflow as tf\n\n{STEPS}N = {GONE}\n"
IN_FUNCTION = (
    f"import numpy as np\n\n{STEPS}\n\n"
    "def outer():\n    return inner()\n\n\n"
    f"def inner():\n    return {GONE}\n"
)
GUARDED = f"import numpy as np\n\n{STEPS}if hasattr(np, 'asscalar'):\n    N = {GONE}\n"


def moved(folder: Path, files: dict[str, str]) -> tuple[ProgramOutcome, Report]:
    """What becomes of the one program of some files."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    report = run_job(sorted(folder / name for name in files), Job())
    found = {r.path.name: r.program.outcome for r in report.results if r.program}
    return found["main.py"], report


@pytest.mark.parametrize(
    "util",
    [STEPS, IN_FUNCTION, GUARDED],
    ids=["nothing", "in a function that nobody uses", "guarded"],
)
def test_what_does_not_run_does_not_matter(util: str, tmp_path: Path) -> None:
    outcome, _ = moved(tmp_path, {"main.py": MAIN, "util.py": util})
    assert outcome is ProgramOutcome.NATIVE


@pytest.mark.parametrize(
    ("main", "util", "place"),
    [
        (MAIN, AT_ONCE, "util.py:5"),
        (MAIN.replace("STEPS)", "STEPS)\n    util.outer()"), IN_FUNCTION, "util.py:11"),
        (MAIN, f"{STEPS}import helper\n", "helper.py:2"),
    ],
    ids=["at import", "in a function that another file uses", "two files further"],
)
def test_what_is_gone_keeps_the_whole_program(
    main: str, util: str, place: str, tmp_path: Path
) -> None:
    files = {"main.py": main, "util.py": util}
    if "helper" in util:
        files["helper.py"] = f"import numpy as np\nN = {GONE}\n"
    outcome, report = moved(tmp_path, files)
    assert outcome is ProgramOutcome.KEPT
    said = f"`numpy.asscalar` ({place}) is not in NumPy"
    reasons = [f.reason for f in report.findings if f.path.name == "main.py"]
    assert reasons == [said]
    # Nothing but the call and the note in the file that it starts from.
    assert [r.path.name for r in report.changed] == ["main.py"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import sys\nreload(sys)", "reload"),
        ("names = [unicode(1)]", "unicode"),
        ("from imp import reload", None),
        ("try:\n    text = unicode\nexcept NameError:\n    text = str", None),
    ],
)
def test_names_of_python_2_keep_their_program(
    line: str, name: str | None, tmp_path: Path
) -> None:
    main = MAIN.replace("import util\n", f"import util\n\n{line}\n")
    outcome, report = moved(tmp_path, {"main.py": main, "util.py": STEPS})
    assert (outcome is ProgramOutcome.KEPT) is (name is not None)
    if name is not None:
        said = f"main.py: `{name}` stays, which Python 3 does not have"
        assert said in [finding.reason for finding in report.findings]


def test_modules_imported_by_name_may_be_any(tmp_path: Path) -> None:
    main = MAIN.replace("import util\n", "import importlib\n\nutil = importlib\n")
    main = main.replace(
        "util = importlib", "util = importlib.import_module('ut' + 'il')"
    )
    files = {"main.py": main, "util.py": STEPS}
    assert moved(tmp_path, files)[0] is not ProgramOutcome.KEPT
    files["util.py"] = AT_ONCE
    outcome, report = moved(tmp_path, files)
    assert outcome is ProgramOutcome.KEPT
    assert any("(util.py:5)" in (f.reason or "") for f in report.findings)


def test_a_main_that_ran_nowhere_takes_no_other_with_it(tmp_path: Path) -> None:
    other = "from tensorflow.python.no_such import thing\nimport main\n\nmain.data()\n"
    outcome, _ = moved(
        tmp_path, {"main.py": MAIN, "util.py": STEPS, "other.py": AT_ONCE + other}
    )
    assert outcome is ProgramOutcome.NATIVE


def test_names_that_numpy_dropped_are_mended_in_every_file(tmp_path: Path) -> None:
    helper = "import numpy as np\n\n\ndef steps():\n    return int(np.float(3))\n"
    alone = "import numpy as np\n\nx = np.float(3)\n"
    files = {
        "main.py": MAIN,
        "util.py": "import helper\n\nSTEPS = helper.steps()\n",
        "helper.py": helper,
        "alone.py": alone,
    }
    outcome, report = moved(tmp_path, files)
    assert outcome is ProgramOutcome.NATIVE
    after = {r.path.name: r.new for r in report.results}
    assert after["helper.py"] == helper.replace("np.float", "float").encode()
    assert after["alone.py"] is None
    # Where a name alone does not do, what gives it back is the compat layer.
    files["helper.py"] = helper.replace("np.float(3)", "np.asscalar(np.ones(1))")
    outcome, report = moved(tmp_path, files)
    assert outcome is ProgramOutcome.KEPT
    reasons = [f.reason or "" for f in report.findings if f.path.name == "main.py"]
    assert reasons == ["`numpy.asscalar` (helper.py:5) is not in NumPy"]


def test_the_names_of_numpy_are_gone() -> None:
    # What the two tests above are about, on the NumPy that is here.
    done = [hasattr(__import__("numpy"), name) for name in ("float", "asscalar")]
    assert done == [False, False], sys.version


def test_a_program_that_stays_names_the_way_out_for_the_others(tmp_path: Path) -> None:
    files = {"main.py": MAIN, "util.py": STEPS, "other.py": f"import main\n{AT_ONCE}"}
    files["other.py"] += "print(main.data())\n"
    outcome, report = moved(tmp_path, files)
    assert outcome is ProgramOutcome.KEPT
    (said,) = {f.reason or "" for f in report.findings if f.path.name == "main.py"}
    assert said.endswith("to move the others without other.py: --exclude other.py")
    assert moved(tmp_path, {k: files[k] for k in ("main.py", "util.py")})[0] is (
        ProgramOutcome.NATIVE
    )


def test_the_surface_of_today() -> None:
    assert gone("tensorflow.data.Dataset.from_tensors") is None
    assert gone("tensorflow.estimator.Estimator") == "tensorflow.estimator"
    assert gone("tensorflow.compat.v1.train.Saver") is None
    assert gone("tensorflow.compat.v1.layers.dense") == "tensorflow.compat.v1.layers"
    assert gone("tf_keras.layers.Dense") is None
    assert gone("tf_keras.layers.CuDNNLSTM") == "tf_keras.layers.CuDNNLSTM"
    assert gone("numpy.int") is None


def test_what_a_condition_chooses_may_be_gone(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    chosen = "import inspect, six\nspec = NEW if six.PY3 else OLD\n"
    text = chosen.replace("NEW", "inspect.getfullargspec")
    path.write_text(text.replace("OLD", "inspect.getargspec"), "utf-8")
    facts = ProjectFacts([path])
    assert not list(lacks_of(facts.load(path, path.read_bytes()).resolver))
    path.write_text("import inspect\nspec = inspect.getargspec\n", "utf-8")
    facts = ProjectFacts([path])
    found = [
        one.what for _, one in lacks_of(facts.load(path, path.read_bytes()).resolver)
    ]
    assert found == ["inspect.getargspec"]


@pytest.mark.parametrize(
    ("used", "keeps"),
    [("scaled(data())", "`tensorflow.to_float` (data.py of"), ("kept(data())", None)],
)
def test_an_installed_package_of_tf1_is_seen(
    used: str, keeps: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "their_data"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .data import kept, scaled\n")
    (package / "data.py").write_text(
        "import tensorflow as tf\n\n\ndef kept(data):\n    return data\n\n\n"
        "def scaled(data):\n    return data.map(lambda x, y: (tf.to_float(x), y))\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    main = MAIN.replace("import util", "import their_data\nimport util")
    main = main.replace("train(data,", f"train(lambda: their_data.{used},")
    (tmp_path / "project").mkdir()
    outcome, report = moved(tmp_path / "project", {"main.py": main, "util.py": STEPS})
    assert outcome is (ProgramOutcome.KEPT if keeps else ProgramOutcome.NATIVE)
    assert keeps is None or any(keeps in (f.reason or "") for f in report.findings)
