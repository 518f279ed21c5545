"""What goes together: a kept program keeps all it runs with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.selection import Selection
from tfmigrate.report.findings import Outcome, ProgramOutcome
from tfmigrate.report.model import FileResult, Report
from tfmigrate.rewrite import pipeline
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import one_source, run_job
from tfmigrate.rewrite.settle import settle

# Has a session of its own where the Estimator asks for its data.
KEPT = """\
import tensorflow as tf
from helpers import scale


def input_fn():
    with tf.Session() as session:
        return session.run(tf.read_file("a.csv"))


def build():
    # the classifier
    return tf.estimator.LinearClassifier([scale(1.0)], no_such_argument=4)
"""
MAIN = """\
#!/usr/bin/env python
# Somebody's licence

import argparse

import model

if __name__ == "__main__":
    model.build().train(model.input_fn)
"""
HELPERS = """\
import tensorflow as tf


def scale(x):
    return tf.to_float(tf.log(x))


def flat(x):
    return tf.nn.dropout(x, keep_prob=0.5)
"""
# Today's names of which TF 1 had too, with the same meaning.
ON_BOTH = HELPERS[: HELPERS.index("\n\ndef flat")] + (
    "\n\ndef size(x):\n    return tf.shape(x, out_type=tf.int64)\n"
)
NATIVE = """\
import tensorflow as tf

from helpers import scale



def model_fn(features, labels, mode):
    y = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors((scale([[1.0]] * 3), [[1.0]] * 3)).repeat(9)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(data, steps=3)
"""
CALL = "tfmigrate.compat.install()  # runs on tfmigrate.compat: see"


def write(folder: Path, files: dict[str, str]) -> list[Path]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return sorted(folder / name for name in files)


def texts(report: Report, folder: Path) -> dict[str, str]:
    """Each file as it will stand."""
    return {
        result.path.relative_to(folder).as_posix(): (
            result.new or result.path.read_bytes()
        ).decode()
        for result in report.results
    }


def rewritten(folder: Path, files: dict[str, str], job: Job | None = None) -> Report:
    """The report, once it is written and a second run found nothing to do."""
    paths = write(folder, files)
    report = run_job(paths, job or Job())
    for result in report.results:
        if result.new is not None:
            result.path.write_bytes(result.new)
    again = run_job(paths, job or Job())
    assert not again.changed
    for outcome in (ProgramOutcome.KEPT, ProgramOutcome.UNTOUCHED):
        assert (
            again.programs_by_outcome()[outcome]
            == report.programs_by_outcome()[outcome]
        )
    return report


def result_of(report: Report, name: str) -> FileResult:
    return next(r for r in report.results if r.path.name == name)


# -- what keeps its bytes ----------------------------------------------------------


def test_the_files_of_a_kept_program_keep_their_bytes(tmp_path: Path) -> None:
    files = {"main.py": MAIN, "model.py": KEPT, "helpers.py": HELPERS}
    report = rewritten(tmp_path, files)
    after = texts(report, tmp_path)
    assert after["helpers.py"] == HELPERS
    # A note above the Estimator, and nothing else.
    lines = after["model.py"].splitlines()
    added = [line for line in lines if line not in KEPT.splitlines()]
    assert added[0].startswith("    # TODO(tfmigrate): TFM103 ")
    assert all(line.startswith("    #   ") for line in added[1:])
    assert lines.index(added[0]) == lines.index("    # the classifier") + 1
    assert after["main.py"].startswith(
        "#!/usr/bin/env python\n# Somebody's licence\n\nimport tfmigrate.compat\n\n"
        f"{CALL} `tfmigrate explain TFM103`\n\nimport argparse\n"
    )
    told = {f.message for f in result_of(report, "helpers.py").findings}
    assert told == {"this file stays as it is"}


def test_what_no_kept_program_uses_is_modernised(tmp_path: Path) -> None:
    other = HELPERS.replace("scale", "other")
    files = {
        "main.py": MAIN,
        "model.py": KEPT,
        "helpers.py": HELPERS,
        "other.py": other,
    }
    after = texts(rewritten(tmp_path, files), tmp_path)
    assert "tf.math.log" in after["other.py"]
    assert after["helpers.py"] == HELPERS


def test_a_program_that_shares_a_file_with_a_kept_one_stays_with_it(
    tmp_path: Path,
) -> None:
    alone = {"native.py": NATIVE, "helpers.py": HELPERS}
    report = rewritten(tmp_path / "alone", alone)
    assert report.programs_by_outcome()[ProgramOutcome.NATIVE] == 1
    files = {**alone, "main.py": MAIN, "model.py": KEPT}
    report = rewritten(tmp_path / "shared", files)
    assert report.programs_by_outcome()[ProgramOutcome.KEPT] == 2
    after = texts(report, tmp_path / "shared")
    assert after["helpers.py"] == HELPERS
    assert CALL in after["native.py"]
    (left,) = [f for f in result_of(report, "native.py").findings if f.program]
    assert left.line == 18
    (own,) = [f for f in result_of(report, "model.py").findings if f.program]
    assert left.reason == (
        "shares helpers.py with model.py, which is kept "
        f"(model.py:{own.line}: {own.reason})"
    )


def test_a_shared_file_that_suits_both_changes_for_both(tmp_path: Path) -> None:
    files = {"native.py": NATIVE, "helpers.py": ON_BOTH, "main.py": MAIN}
    report = rewritten(tmp_path, {**files, "model.py": KEPT})
    outcomes = report.programs_by_outcome()
    assert (outcomes[ProgramOutcome.NATIVE], outcomes[ProgramOutcome.KEPT]) == (1, 1)
    after = texts(report, tmp_path)
    assert "tf.cast(tf.math.log(x), tf.float32)" in after["helpers.py"]
    assert CALL in after["main.py"]
    assert CALL not in after["native.py"]


def test_a_shared_file_that_suits_both_stays_where_nobody_moves(
    tmp_path: Path,
) -> None:
    files = {"main.py": MAIN, "model.py": KEPT, "helpers.py": ON_BOTH}
    assert texts(rewritten(tmp_path, files), tmp_path)["helpers.py"] == ON_BOTH


def test_a_shared_file_with_nothing_to_change_holds_nobody(tmp_path: Path) -> None:
    plain = "def scale(x):\n    return x\n"
    files = {"main.py": MAIN, "model.py": KEPT, "helpers.py": plain, "n.py": NATIVE}
    outcomes = rewritten(tmp_path, files).programs_by_outcome()
    assert (outcomes[ProgramOutcome.NATIVE], outcomes[ProgramOutcome.KEPT]) == (1, 1)


def test_a_program_without_estimator_on_a_kept_file_starts_compat(
    tmp_path: Path,
) -> None:
    session = (
        "import tensorflow as tf\nimport helpers\n\n"
        "with tf.Session() as session:\n    print(session.run(helpers.scale(1.0)))\n"
    )
    files = {"main.py": MAIN, "model.py": KEPT, "helpers.py": HELPERS, "s.py": session}
    report = rewritten(tmp_path, files)
    after = texts(report, tmp_path)["s.py"]
    assert CALL in after
    assert after.endswith(session)
    assert result_of(report, "s.py").program is None


SESSION = """\
import tensorflow as tf
from helpers import scale

w = tf.get_variable("w", [])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(scale(w)))
"""


def test_a_program_with_a_session_of_its_own_is_kept(tmp_path: Path) -> None:
    report = rewritten(tmp_path, {"s.py": SESSION, "helpers.py": HELPERS})
    after = texts(report, tmp_path)
    assert CALL in after["s.py"]
    assert after["helpers.py"] == HELPERS
    assert [one.outcome for _, one in report.programs] == [ProgramOutcome.KEPT]
    assert (
        report.programs[0][1].reason == "`tf.Session` runs a graph of TensorFlow 1 here"
    )


TEST = """\
import tensorflow as tf
from helpers import scale


def data():
    return tf.data.Dataset.from_tensors(([[1.0]], [[1.0]]))


def test_scale():
    with tf.Session() as session:
        assert session.run(scale(1.0)) == 0.0
        tf.estimator.LinearRegressor([], model_dir=session).train(data)
"""


@pytest.mark.parametrize(("name", "text"), [("s.py", SESSION), ("s_test.py", TEST)])
def test_sessions_and_tests_hold_nothing_that_a_native_program_needs(
    tmp_path: Path, name: str, text: str
) -> None:
    files = {name: text, "train.py": NATIVE, "helpers.py": HELPERS}
    report = rewritten(tmp_path, files)
    after = texts(report, tmp_path)
    found = {path.name: one for path, one in report.programs}
    assert found["train.py"].outcome is ProgramOutcome.NATIVE
    assert found[name].outcome is ProgramOutcome.KEPT
    way = "; look at helpers.py, which moves with another program"
    assert (found[name].reason or "").endswith(way)
    assert "tf.math.log" in after["helpers.py"]
    assert CALL in after[name]
    assert CALL not in after["train.py"]


def test_a_session_that_borrows_from_a_program_keeps_it_for_what_changes(
    tmp_path: Path,
) -> None:
    layer = "tf.layers.dense(features, 1)"
    own = "def half(x):\n    return tf.to_float(x) / 2\n\n\n"
    own += f"def network(features):\n    return {layer}\n\n\ndef model_fn"
    train = NATIVE.replace(layer, "network(features)").replace("def model_fn", own)
    borrows = SESSION.replace("from helpers", "from train").replace("scale", "half")
    files = {"s.py": borrows, "train.py": train, "helpers.py": HELPERS}
    report = rewritten(tmp_path / "same", files)
    found = {path.name: one.outcome for path, one in report.programs}
    assert found == {"s.py": ProgramOutcome.KEPT, "train.py": ProgramOutcome.NATIVE}
    files["s.py"] = borrows.replace("half", "network")
    report = rewritten(tmp_path / "other", files)
    (reason,) = [one.reason for path, one in report.programs if path.name == "train.py"]
    assert reason == (
        "s.py takes `network` from train.py, and is no part of it: give it a copy"
    )


def test_what_a_file_beside_the_run_names_stays(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import train\n\ntrain.model_fn\n", "utf-8")
    report = rewritten(tmp_path, {"train.py": NATIVE, "helpers.py": HELPERS})
    ((_, program),) = report.programs
    assert program.outcome is ProgramOutcome.KEPT
    why = "other.py, which names `model_fn`, is not among the files given"
    assert why in (program.reason or "")


def test_a_session_with_a_graph_of_its_own_runs_under_todays_names(
    tmp_path: Path,
) -> None:
    own = SESSION.replace("w = tf", "tf.Graph().as_default().__enter__()\nw = tf")
    report = rewritten(tmp_path, {"s.py": own, "helpers.py": HELPERS})
    assert not report.programs
    assert "tf.compat.v1.Session" in texts(report, tmp_path)["s.py"]


def test_a_library_that_nothing_here_runs_only_gets_its_note(tmp_path: Path) -> None:
    report = rewritten(tmp_path, {"model.py": KEPT, "helpers.py": HELPERS})
    after = texts(report, tmp_path)
    assert "compat.install" not in "".join(after.values())
    (finding,) = result_of(report, "model.py").findings
    assert "behind tfmigrate.compat.install()" in finding.message
    assert finding.program is ProgramOutcome.KEPT


def test_a_package_that_imports_tensorflow_first_is_prepared_too(
    tmp_path: Path,
) -> None:
    files = {
        "trainer/__init__.py": "from . import model\n",
        "trainer/model.py": KEPT.replace("from helpers", "from .helpers"),
        "trainer/helpers.py": HELPERS,
        "trainer/task.py": MAIN.replace("import model", "from trainer import model"),
    }
    after = texts(rewritten(tmp_path, files), tmp_path)
    assert CALL in after["trainer/__init__.py"]
    assert CALL in after["trainer/task.py"]
    assert CALL not in after["trainer/model.py"] + after["trainer/helpers.py"]


def test_one_note_for_several_estimators_of_a_file(tmp_path: Path) -> None:
    made = "tf.estimator.LinearClassifier([], no_such_argument=4)"
    text = f"import tensorflow as tf\n\na = {made}\nb = {made}\nc = {made}\n"
    text += "\n\ndef input_fn():\n    return tf.Session().run(tf.read_file('a.csv'))\n"
    text += "\n\na.train(input_fn)\n"
    report = rewritten(tmp_path, {"three.py": text})
    (finding,) = report.results[0].findings
    assert finding.line == 3
    assert texts(report, tmp_path)["three.py"].count("TODO(tfmigrate)") == 1


def test_a_program_written_for_tf2_stays_eager(tmp_path: Path) -> None:
    text = KEPT.replace("tf.Session", "tf.compat.v1.Session").replace(
        "tf.read_file", "tf.io.read_file"
    ) + (
        "\n\nwriter = tf.summary.create_file_writer('logs')\n"
        "with writer.as_default():\n    build().train(input_fn)\n"
    )
    helpers = (
        "import tensorflow as tf\n\n\ndef scale(x):\n    return tf.cast(x, tf.int32)\n"
    )
    after = texts(rewritten(tmp_path, {"m.py": text, "helpers.py": helpers}), tmp_path)
    assert "tfmigrate.compat.install(version=2)" in after["m.py"]
    old = {"m.py": text, "helpers.py": HELPERS.replace("to_float", "placeholder")}
    after = texts(rewritten(tmp_path / "both", old), tmp_path / "both")
    # Names of both: only the clone of TF 1 has those of TF 1.
    assert "tfmigrate.compat.install()" in after["m.py"]


# -- what compat cannot run --------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("from tensorflow.python.ops.no_such import thing", "main.py:7"),
        ("import tensorflow.examples.speech_commands.train", "main.py:7"),
    ],
)
def test_what_compat_cannot_run_keeps_every_byte(
    tmp_path: Path, line: str, place: str
) -> None:
    main = MAIN.replace("import model\n", f"import model\n{line}\n", 1)
    files = {"main.py": main, "model.py": KEPT, "helpers.py": HELPERS}
    report = rewritten(tmp_path, files)
    assert texts(report, tmp_path) == files
    assert report.programs_by_outcome()[ProgramOutcome.UNTOUCHED] == 1
    (finding,) = result_of(report, "model.py").findings
    assert finding.rule == "TFM104"
    assert f"cannot do `{line}` ({place})" in (finding.reason or "")


def test_an_estimator_that_compat_lacks_is_untouched(tmp_path: Path) -> None:
    text = KEPT.replace("LinearClassifier", "BoostedTreesClassifier")
    files = {"main.py": MAIN, "model.py": text, "helpers.py": HELPERS}
    report = rewritten(tmp_path, files)
    assert texts(report, tmp_path) == files
    (finding,) = result_of(report, "model.py").findings
    assert finding.program is ProgramOutcome.UNTOUCHED
    assert "`tf.estimator.BoostedTreesClassifier`: TensorFlow has no kernels" in (
        finding.reason or ""
    )


def test_a_call_that_raises_on_compat_is_told_with_its_package(tmp_path: Path) -> None:
    helpers = (
        f"{HELPERS}\n\ndef drawn(x):\n    return tf.contrib.distributions.Poisson(x)\n"
    )
    files = {"main.py": MAIN, "model.py": KEPT, "helpers.py": helpers}
    report = rewritten(tmp_path, files)
    assert report.programs_by_outcome()[ProgramOutcome.KEPT] == 1
    (finding,) = result_of(report, "model.py").findings
    assert (
        finding.message == "this program is kept, and calls what tfmigrate.compat lacks"
    )
    reason = finding.reason or ""
    assert "`tf.contrib.distributions.Poisson`: It lives on in TensorFlow Pr" in reason
    assert reason.endswith("(pip install tensorflow_probability) (helpers.py:13)")


@pytest.mark.parametrize(
    "line",
    [
        "from tensorflow.python.training.saver import *",
        "from tensorflow.examples.tutorials.mnist import input_data",
        "from tensorflow.python.training.tracking import base",
        "from tensorflow.python.estimator.util import fn_args",
        "from tensorflow.contrib.layers.python.layers import layers",
        "import tensorflow_estimator",
        "try:\n    import tensorflow.python.no_such\nexcept ImportError:\n    pass",
    ],
)
def test_what_compat_can_run_is_no_less(tmp_path: Path, line: str) -> None:
    main = MAIN.replace("import model", f"import model\n{line}", 1)
    files = {"main.py": main, "model.py": KEPT, "helpers.py": HELPERS}
    outcomes = rewritten(tmp_path, files).programs_by_outcome()
    assert (outcomes[ProgramOutcome.KEPT], outcomes[ProgramOutcome.UNTOUCHED]) == (1, 0)


# -- what its owner asked for ---------------------------------------------------------


def test_a_silenced_program_stays_with_all_its_files(tmp_path: Path) -> None:
    text = NATIVE.replace("(model_fn)\n", "(model_fn)  # tfmigrate: ignore\n")
    files = {"native.py": text, "helpers.py": HELPERS}
    assert texts(rewritten(tmp_path, files), tmp_path) == files


def test_selected_rules_run_alone(tmp_path: Path) -> None:
    files = {"main.py": MAIN, "model.py": KEPT, "helpers.py": HELPERS}
    job = Job(selection=Selection(select=("TFM201", "TFM202")))
    after = texts(rewritten(tmp_path, files, job), tmp_path)
    assert "tf.math.log" in after["helpers.py"]
    assert after["main.py"] == MAIN


# -- forms of files -------------------------------------------------------------------


def test_a_notebook_calls_in_its_first_cell_with_imports(tmp_path: Path) -> None:
    cells = [
        "%matplotlib inline\n",
        "%%time\nimport tensorflow as tf\n",
        KEPT + "\n\nprint(input_fn)\n",
    ]
    data = {
        "cells": [{"cell_type": "code", "source": text} for text in cells],
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
    }
    files = {"book.ipynb": json.dumps(data), "helpers.py": HELPERS}
    report = rewritten(tmp_path, files)
    found = texts(report, tmp_path)
    # What its cells import stays with it.
    assert found["helpers.py"] == HELPERS
    after = json.loads(found["book.ipynb"])["cells"]
    assert after[0]["source"] == cells[0]
    assert after[1]["source"].startswith("%%time\nimport tfmigrate.compat\n\n" + CALL)
    assert after[2]["source"].count("TODO(tfmigrate): TFM103") == 1
    assert result_of(report, "book.ipynb").program is not None


def test_line_ends_and_encodings_are_kept(tmp_path: Path) -> None:
    text = (
        "# -*- coding: latin-1 -*-\n# \u00e9\n" + KEPT + "\n\nbuild().train(input_fn)\n"
    )
    raw = text.replace("\n", "\r\n").encode("latin-1")
    report = one_source(Path("stdin.py"), raw, Job())
    new = report.results[0].new
    assert new is not None
    assert b"\xe9" in new
    assert b"\n" not in new.replace(b"\r\n", b"")
    lines = new.decode("latin-1").split("\r\n")
    kept = [one for one in lines if one in text.split("\n")]
    assert [one for one in kept if one] == [one for one in text.split("\n") if one]


def test_a_file_that_cannot_be_read_holds_those_it_runs_with(tmp_path: Path) -> None:
    broken = KEPT + "x = (\n"
    files = {"main.py": MAIN, "model.py": broken, "helpers.py": HELPERS}
    report = run_job(write(tmp_path, files), Job())
    assert texts(report, tmp_path)["helpers.py"] == HELPERS
    findings = result_of(report, "helpers.py").findings
    assert all(f.outcome is Outcome.LEFT for f in findings)


# -- what used to be missed, or to end the file ----------------------------------------


V2 = """\
import tensorflow.compat.v1 as tf1
import tensorflow.compat.v2 as tf


def input_fn():
    return tf1.Session().run(tf1.read_file("a.csv"))


classifier = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")])
classifier.train(input_fn)
"""


def test_estimators_through_compat_v2_are_found_and_stay_tf2(tmp_path: Path) -> None:
    report = rewritten(tmp_path, {"v2.py": V2})
    (finding,) = report.results[0].findings
    assert finding.program is ProgramOutcome.KEPT
    assert "tfmigrate.compat.install(version=2)" in texts(report, tmp_path)["v2.py"]


def test_a_relative_import_outside_of_a_package_is_no_error(tmp_path: Path) -> None:
    files = {
        "main.py": MAIN,
        "model.py": KEPT.replace("from helpers", "from . import other\nfrom helpers"),
        "helpers.py": HELPERS,
        "other.py": HELPERS,
    }
    report = rewritten(tmp_path, files)
    assert not report.failed
    # It runs with the program all the same.
    assert texts(report, tmp_path)["other.py"] == HELPERS


def test_imports_over_several_lines_are_seen(tmp_path: Path) -> None:
    imports = "from pkg import (  # the parts\n    other,\n    model,\n)\n"
    files = {
        "main.py": MAIN.replace("import model\n", imports),
        "pkg/__init__.py": "",
        "pkg/model.py": KEPT.replace("from helpers", "from pkg.other"),
        "pkg/other.py": HELPERS,
    }
    after = texts(rewritten(tmp_path, files), tmp_path)
    assert after["pkg/other.py"] == HELPERS
    assert CALL in after["main.py"]


def test_a_rewrite_that_fails_keeps_the_estimator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a surprise")

    monkeypatch.setattr(pipeline, "part_in_programs", lambda *_: None)
    monkeypatch.setattr(pipeline, "run_rules", fail)
    facts = ProjectFacts()
    path = tmp_path / "native.py"
    failed = pipeline.process_source(path, NATIVE.encode(), Job(), facts)
    (result,) = settle([failed], facts, Selection())
    (finding,) = result.findings
    assert finding.program is ProgramOutcome.KEPT
    assert "rewriting this file failed, please report it" in (finding.reason or "")
    assert CALL in (result.new or b"").decode()
    # A file without Estimators has nothing to fall back to.
    other = pipeline.process_source(tmp_path / "x.py", HELPERS.encode(), Job(), facts)
    assert "internal error" in (other.error or "")


def test_an_estimators_own_class_is_a_program(tmp_path: Path) -> None:
    derived = (
        "import tensorflow as tf\n\n\nclass Mine(tf.estimator.Estimator):\n    pass\n"
    )
    main = "from mine import Mine\n\nif __name__ == '__main__':\n    Mine(None)\n"
    vocabulary = "import tensorflow as tf\n\nMODE = tf.estimator.RunConfig()\n"
    files = {"mine.py": derived, "main.py": main, "words.py": vocabulary}
    report = rewritten(tmp_path, files)
    assert {r.path.name for r in report.results if r.program} == {"main.py"}


def test_modules_of_a_program_lose_what_numpy_lost(tmp_path: Path) -> None:
    """Also those that have nothing of TensorFlow, where nobody provides it any more."""
    old = "import numpy as np\n\n\ndef scale(x):\n    return np.asarray(x, np.float)\n"
    unused = old.replace("scale", "other")
    report = rewritten(
        tmp_path, {"train.py": NATIVE, "helpers.py": old, "unused.py": unused}
    )
    found = texts(report, tmp_path)
    assert "np.asarray(x, float)" in found["helpers.py"]
    assert found["unused.py"] == unused
    # Under an Estimator that stays tfmigrate.compat provides it.
    kept = {"model.py": KEPT, "main.py": MAIN, "helpers.py": old}
    report = rewritten(tmp_path / "kept", kept)
    assert texts(report, tmp_path / "kept")["helpers.py"] == old
