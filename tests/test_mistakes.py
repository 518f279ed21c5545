"""What a new user gets wrong: one line with place and cause, one with what to do next."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tfmigrate.cli import cli
from tfmigrate.errors import UserError

LEGACY = "import tensorflow as tf\n\nx = tf.log(1.0)\n"
CELL = '{"cells": [{"cell_type": "code", "source": "import tensorflow\\n\\nf(:"}]}'
FILES = {
    "train.py": LEGACY,
    "src/train.py": LEGACY,
    "modern/train.py": "print('no legacy code')\n",
    "py2.py": "import tensorflow as tf\nprint 'loss', tf.log(1.0)\n",
    "broken.py": "import tensorflow as tf\n\ndef model_fn(:\n    pass\n",
    "zeros.py": "import tensorflow\0as tf\n",
    "latin.py": "# coding: klingon\nimport tensorflow as tf\n",
    "text.ipynb": "import tensorflow as tf\n",
    "cell.ipynb": CELL,
    "notes.txt": "nothing to run\n",
    "cluster.json": "{'cluster': 1}",
    "full/old.log": "",
    "full/train.py": LEGACY,
    "requirements.txt": "tensorflow-gpu==1.12\n",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file for each mistake, which is the present one."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "moved.py").symlink_to("away/train.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TF_CONFIG", raising=False)
    return tmp_path


def told(line: str) -> tuple[int, str]:
    """Exit status and text of a command, as a terminal would have them."""
    result = CliRunner().invoke(cli, line.split())
    if isinstance(result.exception, UserError):
        hint = result.exception.hint
        return 2, f"error: {result.exception.message}\nhint: {hint}\n"
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    return result.exit_code, result.output


# command line, exit status, what says the place and the cause, what says the next step
MISTAKES = [
    # Where is it?
    ("scan", 2, "Missing argument 'PATHS...'", "Try 'cli scan --help'"),
    ("scan sorce", 2, "no such file or directory: sorce", "Did you mean src?"),
    ("scan zzz", 2, "no such file or directory: zzz", "hint: it was looked for from"),
    ("scan away/zzz.py", 2, "away/zzz.py", "hint: there is no folder away either"),
    ("scan moved.py", 2, "a link to away/train.py", "hint: mend the link"),
    ("scan loop", 2, "no such file or directory: loop", "hint: mend the link"),
    ("scan empty", 0, "0 files", "next: name another folder"),
    ("scan modern", 0, "1 without legacy code", "next: nothing"),
    ("scan src -o away/report.txt", 2, "away: no such directory", ""),
    ("scan src -o src", 2, "cannot write src: it is a directory", ""),
    # What is it?
    ("scan py2.py", 2, "Python 2 only: print statement in line 2", "next: 1 file"),
    ("scan broken.py", 2, "broken.py: cannot process: line 3:", "next: mend what"),
    ("scan zeros.py", 2, "the file contains null bytes", "next: mend what"),
    ("scan latin.py", 2, "unknown encoding: klingon", "next: mend what"),
    ("scan text.ipynb", 2, "text.ipynb: cannot process: not a notebook", "next: mend"),
    ("scan cell.ipynb", 2, "cell 1, line 3: not valid Python", "next: mend what"),
    ("scan requirements.txt", 1, "requirements.txt:1:1 TFM503", "tensorflow>=2.16"),
    # What is asked?
    ("scam src", 2, "No such command 'scam'", "Did you mean scan?"),
    ("scan src --formt text", 2, "No such option", "--format"),
    ("scan src --format xml", 2, "'xml' is not one of", "'text', 'json', 'sarif'"),
    ("scan src --select TFM999", 2, "no rule 'TFM999'", "hint: `tfmigrate rules`"),
    ("scan src --jobs many", 2, "'-j' / '--jobs': 'many'", "Try 'cli scan --help'"),
    (
        "scan src --exclude a/***/[",
        1,
        "train.py:3:5 TFM201",
        "`tfmigrate rewrite src` w",
    ),
    ("explain dropout", 2, "there is no rule 'dropout'", "hint: `tfmigrate rules`"),
    ("scan - src", 2, "- reads one program from stdin", "takes no other path"),
    # Rewriting
    ("rewrite src", 2, "src is not under version control", "hint: commit the files"),
    ("rewrite src --out src", 2, "--out src is where the files are", "hint: name anot"),
    ("rewrite src --out notes.txt", 2, "notes.txt", "is a file"),
    ("undo", 2, "there is no rewrite to undo", "hint: run `tfmigrate undo` inside"),
    ("undo away", 2, "Path 'away' does not exist", "Try 'cli undo --help'"),
    # Running and proving
    ("run", 2, "Missing argument 'PROGRAM'", "Try 'cli run --help'"),
    ("run trian.py", 2, "no such file or directory: trian.py", "Did you mean train.py"),
    ("run trainer.task", 2, "trainer.task", "hint: if this is a module, use: tfmig"),
    (
        "run empty",
        2,
        "empty is a folder without a __main__.py",
        "hint: name the script",
    ),
    ("run --replicas 0 train.py", 2, "'--replicas': 0", "Try 'cli run --help'"),
    ("verify train.py", 2, "Missing argument 'B'", "Try 'cli verify --help'"),
    ("verify train.py new.py", 2, "no such file or directory: new.py", "hint: "),
    ("verify src modern", 2, "src: neither a recording nor", "hint: name the script"),
    ("verify notes.txt train.py", 2, "notes.txt: not a Python", "hint: name a .py"),
    ("verify src modern -m trainer", 2, "no module trainer", "hint: it would be"),
    ("verify src modern -- python x.py", 2, "src: there is no x.py", ""),
    ("verify train.py train.py --seeds 1", 2, "one seed tells nothing", "--seeds 3"),
    ("verify train.py train.py --keep src", 2, "src: not empty", "hint: name a new"),
    ("verify train.py train.py --env X", 2, "--env X", "NAME=VALUE"),
    # Clusters, checkpoints, data
    ("launch --workers 0 train.py", 2, "a cluster needs a worker", "hint: --workers 1"),
    ("launch --ps 1 --no-chief train.py", 2, "need a chief", "hint: drop --no-chief"),
    ("launch trian.py", 2, "no such file or directory: trian.py", "Did you mean train"),
    ("launch --logs full train.py", 2, "full/old.log is there", "hint: name a new"),
    ("doctor --no-devices --tf-config zzz", 2, "zzz: No such file", "hint: name the"),
    ("doctor --no-devices --tf-config cluster.json", 1, "not JSON", "double quotes"),
    ("checkpoint list run/model.ckpt", 2, "run/model.ckpt", "hint: there is no folder"),
    ("checkpoint convert a --like b -o c --map d", 2, "--map d", "expected NEW=OLD"),
    ("data mnist", 2, "'mnist' is not 'fashion-mnist'", "Try 'cli data --help'"),
    ("data fashion-mnist --data-dir empty", 2, "empty has no train-", "hint: any one"),
]


@pytest.mark.parametrize(
    ("line", "status", "cause", "step"), MISTAKES, ids=[m[0] for m in MISTAKES]
)
def test_mistake(line: str, status: int, cause: str, step: str, here: Path) -> None:
    before = sorted(here.rglob("*"))
    code, text = told(line)
    assert (code, "Traceback" in text, "internal" in text) == (status, False, False)
    assert cause in text, text
    assert step in text, text
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    "line",
    [
        "run train.py",
        "verify train.py train.py",
        "rewrite train.py --diff --prove",
        "launch --run train.py",
        "checkpoint list train.py",
        "demo",
    ],
)
@pytest.mark.parametrize("lacks", ["tensorflow", "tf_keras"])
def test_without_tensorflow(
    line: str, lacks: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What trains says what it needs; Keras 3 alone is not enough."""
    with monkeypatch.context() as lacking:
        lacking.setitem(sys.modules, lacks, None)  # Python's way: not to be imported
        code, text = told(line)
    assert code == 2
    assert f"needs {lacks}" in text
    assert ("Keras 2" in text) == (lacks == "tf_keras")
    assert text.endswith("hint: pip install tensorflow tf-keras tensorboard\n")


def test_a_broken_tf_config(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", "{cluster")
    code, text = told("run train.py")
    assert (code, "error: TF_CONFIG is not JSON" in text) == (2, True)
    assert "hint: `tfmigrate doctor`" in text


def test_a_module_of_a_package_started_as_a_script(here: Path, tfmigrate: Any) -> None:
    """It asks for its package by name, which only `-m` finds."""
    (here / "src/__init__.py").touch()
    (here / "src/task.py").write_text("from src import train\n")
    done = tfmigrate("run", "src/task.py", cwd=here)
    hint = f"hint: it is a module of src: `tfmigrate run -m src.task` in {here}\n"
    assert (done.returncode, done.stderr.endswith(hint)) == (1, True), done.stderr


@pytest.mark.tensorflow
def test_data_that_are_not_there_are_named_last(here: Path, tfmigrate: Any) -> None:
    """Below what TensorFlow tells of its graph, where a terminal ends."""
    (here / "nodata.py").write_text(
        "import tensorflow as tf\n\n"
        "lines = tf.data.TextLineDataset('nowhere.csv').make_one_shot_iterator()\n"
        "tf.Session().run(lines.get_next())\n"
    )
    done = tfmigrate("run", "nodata.py", cwd=here)
    last = done.stderr.splitlines()[-1]
    assert last == "error: nowhere.csv; No such file or directory", done.stderr


def test_dirty_tree_and_no_git(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --allow-dirty only what git can bring back is written."""
    subprocess.run(["git", "init", "-q", here], check=True)
    code, text = told("rewrite src")
    assert (code, "uncommitted changes in src/train.py" in text) == (2, True)
    assert "hint: commit or stash them first" in text
    monkeypatch.setenv("PATH", str(here))
    code, text = told("rewrite src")
    assert (code, "error: git is not installed" in text) == (2, True)
    assert (here / "src/train.py").read_text() == LEGACY
