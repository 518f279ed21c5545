"""A program that moves is judged with all of its files: what one of them would not
find on plain TensorFlow keeps all of them on their Estimator."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tfmigrate.report.findings import Tier
from tfmigrate.report.model import Report
from tfmigrate.rewriting.pipeline import Job
from tfmigrate.rewriting.run import run_job

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
# `foo` has no home anywhere, in or out of TensorFlow.
AT_ONCE = f"import tensorflow as tf\n\n{STEPS}N = tf.contrib.nothing.foo\n"
IN_FUNCTION = (
    f"import tensorflow as tf\n\n{STEPS}\n\n"
    "def outer():\n    return inner()\n\n\n"
    "def inner():\n    return tf.contrib.nothing.foo(1)\n"
)
GUARDED = (
    f"import tensorflow as tf\n\n{STEPS}"
    "if hasattr(tf, 'contrib'):\n    N = tf.contrib.nothing.foo\n"
)


def moved(folder: Path, files: dict[str, str]) -> tuple[Tier, Report]:
    """What becomes of the one program of some files."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    report = run_job(sorted(folder / name for name in files), Job())
    tiers = {r.path.name: r.program.tier for r in report.results if r.program}
    return tiers["main.py"], report


@pytest.mark.parametrize(
    "util",
    [STEPS, IN_FUNCTION, GUARDED],
    ids=["nothing", "in a function that nobody uses", "guarded"],
)
def test_what_does_not_run_does_not_matter(util: str, tmp_path: Path) -> None:
    tier, _ = moved(tmp_path, {"main.py": MAIN, "util.py": util})
    assert tier is Tier.NATIVE


@pytest.mark.parametrize(
    ("main", "util", "place"),
    [
        (MAIN, AT_ONCE, "util.py:4"),
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
        files["helper.py"] = "import tensorflow as tf\nN = tf.contrib.nothing.foo\n"
    tier, report = moved(tmp_path, files)
    assert tier is Tier.COMPAT
    said = f"`tensorflow.contrib.nothing.foo` ({place}) is not in TensorFlow 2.21"
    reasons = [f.reason for f in report.findings if f.path.name == "main.py"]
    assert reasons == [said]
    # Nothing but the call and the note in the file that it starts from.
    assert [r.path.name for r in report.changed] == ["main.py"]


def test_copies_of_contrib_are_made_for_every_file(tmp_path: Path) -> None:
    util = AT_ONCE.replace("nothing.foo", "layers.l2_regularizer(0.1)")
    tier, report = moved(tmp_path, {"main.py": MAIN, "util.py": util})
    assert tier is Tier.NATIVE
    after = {r.path.name: r.new or b"" for r in report.results}
    assert b"tf_contrib.l2_regularizer(0.1)" in after["util.py"]
    assert b"contrib." not in after["main.py"]


def test_hyperparameters_of_another_file_under_an_alias(tmp_path: Path) -> None:
    config = (
        "import tensorflow as tf\n\nSTEPS = 3\n"
        "HPARAMS = tf.contrib.training.HParams(rate=0.1)\n"
    )
    main = (
        MAIN.replace("mode):", "mode, params):")
        .replace("Optimizer(0.1)", "Optimizer(params.rate)")
        .replace('"model")', '"model", params=hp)')
        # Of an import that nobody uses, nothing has to be found.
        .replace(
            "import util\n",
            "from tensorflow.contrib.learn.python.learn import learn_runner\n"
            "import util\n\nhp = util.HPARAMS\n",
        )
    )
    tier, report = moved(tmp_path, {"main.py": main, "util.py": config})
    assert tier is Tier.NATIVE
    after = {r.path.name: (r.new or b"").decode() for r in report.results}
    assert "HPARAMS = tf_contrib.HParams(rate=0.1)" in after["util.py"]
    assert "hp = util.HPARAMS\n" in after["main.py"]
    assert "learn_runner" not in after["main.py"]


def test_modules_imported_by_name_may_be_any(tmp_path: Path) -> None:
    main = MAIN.replace("import util\n", "import importlib\n\nutil = importlib\n")
    main = main.replace(
        "util = importlib", "util = importlib.import_module('ut' + 'il')"
    )
    files = {"main.py": main, "util.py": STEPS}
    assert moved(tmp_path, files)[0] is not Tier.COMPAT
    files["util.py"] = AT_ONCE
    tier, report = moved(tmp_path, files)
    assert tier is Tier.COMPAT
    assert any("(util.py:4)" in (f.reason or "") for f in report.findings)


def test_a_main_that_ran_nowhere_takes_no_other_with_it(tmp_path: Path) -> None:
    other = "from tensorflow.python.no_such import thing\nimport main\n\nmain.data()\n"
    tier, _ = moved(
        tmp_path, {"main.py": MAIN, "util.py": STEPS, "other.py": AT_ONCE + other}
    )
    assert tier is Tier.NATIVE


def test_names_that_numpy_dropped_are_mended_in_every_file(tmp_path: Path) -> None:
    helper = "import numpy as np\n\n\ndef steps():\n    return int(np.float(3))\n"
    alone = "import numpy as np\n\nx = np.float(3)\n"
    files = {
        "main.py": MAIN,
        "util.py": "import helper\n\nSTEPS = helper.steps()\n",
        "helper.py": helper,
        "alone.py": alone,
    }
    tier, report = moved(tmp_path, files)
    assert tier is Tier.NATIVE
    after = {r.path.name: r.new for r in report.results}
    # Without the import, which had no other reader.
    assert after["helper.py"] == b"def steps():\n    return int(float(3))\n"
    assert after["alone.py"] is None
    # Where a name alone does not do, what gives it back is the compat layer.
    files["helper.py"] = helper.replace("np.float(3)", "np.asscalar(np.ones(1))")
    tier, report = moved(tmp_path, files)
    assert tier is Tier.COMPAT
    reasons = [f.reason or "" for f in report.findings if f.path.name == "main.py"]
    assert reasons == ["`numpy.asscalar` (helper.py:5) is not in NumPy"]


def test_the_names_of_numpy_are_gone() -> None:
    # What the two tests above are about, on the NumPy that is here.
    done = [hasattr(__import__("numpy"), name) for name in ("float", "asscalar")]
    assert done == [False, False], sys.version


def test_a_program_that_stays_names_the_way_out_for_the_others(tmp_path: Path) -> None:
    files = {"main.py": MAIN, "util.py": STEPS, "other.py": f"import main\n{AT_ONCE}"}
    files["other.py"] += "print(main.data())\n"
    tier, report = moved(tmp_path, files)
    assert tier is Tier.COMPAT
    (said,) = {f.reason or "" for f in report.findings if f.path.name == "main.py"}
    assert said.endswith("to move the others without other.py: --exclude other.py")
    assert moved(tmp_path, {k: files[k] for k in ("main.py", "util.py")})[0] is (
        Tier.NATIVE
    )
