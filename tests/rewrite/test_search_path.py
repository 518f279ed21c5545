"""Folders that programs put on their search path belong to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tfmigrate.project.search_path import added_directories
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

from .test_lacks import MAIN


@pytest.mark.parametrize(
    "code",
    [
        "x = 1",
        "sys.path.append(sys.argv[1])",
        "sys.path.append(os.environ['HOME'])",
        "sys.path.insert(0, '/somebody/else')",
        "sys.path.append('nowhere')",
        "print(sys.path)",
    ],
)
def test_what_is_not_known_adds_nothing(code: str, tmp_path: Path) -> None:
    raw = f"import os, sys\n{code}\n".encode()
    assert added_directories(str(tmp_path / "main.py"), raw) == []


@pytest.mark.parametrize(
    "code",
    [
        "sys.path.append('..')",
        "sys.path.insert(0, os.path.pardir)",
        "sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))",
        "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))",
        "HERE = os.path.dirname(__file__)\nsys.path += [HERE + '/..']",
        "sys.path = [str(pathlib.Path(__file__).resolve().parent.parent)] + sys.path",
        "sys.path.append(str(pathlib.Path(__file__).parents[1]))",
        "sys.path.extend([os.path.split(os.path.split(__file__)[0])[0]])",
        "print 'Python 2'\nsys.path.append('..')",
    ],
)
def test_paths_are_read(code: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    raw = f"import os, pathlib, sys\n{code}\n".encode()
    found = added_directories(str(tmp_path / "one/main.py"), raw)
    assert found == [str(tmp_path)]


def test_a_notebooks_cells_are_read(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    raw = b'{"source": ["import sys\\n", "sys.path.append(\\"..\\")\\n"]}'
    found = added_directories(str(tmp_path / "one/main.ipynb"), raw)
    assert found == [str(tmp_path)]


FIRST = "import sys\n\nsys.path.insert(0, '..')\n"
LATE = MAIN.replace("import util\n", f"{FIRST}import util\n")


def outcomes(
    folder: Path, files: dict[str, str]
) -> tuple[list[ProgramOutcome], set[str]]:
    """What becomes of the programs in files, and the files that are added to theirs."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    report = run_job(sorted(folder / name for name in files), Job())
    added = {os.path.relpath(r.path, folder) for r in report.results if r.added}
    return [r.program.outcome for r in report.results if r.program], added


def test_their_files_are_judged_with_the_program(tmp_path: Path) -> None:
    files = {"one/main.py": FIRST + MAIN, "util.py": "STEPS = 3\n"}
    assert outcomes(tmp_path, files)[0] == [ProgramOutcome.NATIVE]
    files["util.py"] += "import numpy as np\n\nX = np.asscalar(np.ones(1))\n"
    assert outcomes(tmp_path, files)[0] == [ProgramOutcome.KEPT]


def test_siblings_share_one_module_where_all_of_them_find_it(tmp_path: Path) -> None:
    util = (
        "import tensorflow as tf\n\nSTEPS = 3\n\n\ndef sizes(x):\n    return x.shape\n"
    )
    files = {
        "one/main.py": FIRST + MAIN,
        "two/main.py": FIRST + MAIN,
        "util.py": util,
    }
    assert outcomes(tmp_path, files) == ([ProgramOutcome.NATIVE] * 2, {"training.py"})
    # Where the path is set too late for an import of the module, it lies beside.
    files["two/main.py"] = LATE
    found, added = outcomes(tmp_path, files)
    assert found == [ProgramOutcome.NATIVE] * 2
    assert added == {"training.py", "two/training.py"}


def test_a_folder_below_finds_what_stands_beside_the_started_file(
    tmp_path: Path,
) -> None:
    below = "import sys\n\nsys.path.append('lib')\n"
    modes = "import tensorflow as tf\n\nSTEPS = 3\nMODE = tf.estimator.ModeKeys.EVAL\n"
    files = {"main.py": below + MAIN, "lib/util.py": modes}
    assert outcomes(tmp_path, files) == ([ProgramOutcome.NATIVE], {"training.py"})
    # Started with `python -m`, it has no folder of its own to search.
    files["__init__.py"] = ""
    assert outcomes(tmp_path, files) == ([ProgramOutcome.KEPT], set())


def test_what_a_started_file_adds_its_modules_find_too(tmp_path: Path) -> None:
    root = "import os, sys\n\nHERE = os.path.abspath(__file__)\n"
    root += "sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))\n\n"
    program = MAIN.replace("import util\n", "from trainer import util\n")
    name = "import tensorflow as tf\n\nSTEPS = 3\nMODE = tf.estimator.ModeKeys.EVAL\n"
    files = {
        "trainer/__init__.py": "",
        "trainer/util.py": name,
        "trainer/task.py": root + program,
    }
    assert outcomes(tmp_path, files)[1] == {"trainer/training.py"}
    # `python -m trainer.task` searches the root only.
    report = run_job([tmp_path / name for name in files], Job())
    (new,) = (r.new for r in report.results if r.path.name == "task.py")
    assert new is not None
    assert b"\nfrom trainer.training import" in new
