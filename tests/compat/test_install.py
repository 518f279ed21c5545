"""A program that calls the compat layer itself, as the rewrite of a kept one does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.alone
CALL = "import tfmigrate.compat\n\ntfmigrate.compat.install({})\n"
PROGRAM = """\
import numpy as np
import tensorflow as tf

column = tf.feature_column.numeric_column("x")
print(tf.__version__, tf.executing_eagerly(), np.int, tf.estimator.__name__)
print(tf.estimator.LinearClassifier([column], model_dir="there").model_dir)
"""


@pytest.fixture
def run(python: Any, tmp_path: Path) -> Callable[..., list[str]]:
    """The lines that a Python prints in the folder of the test."""

    def run(*command: str | Path) -> list[str]:
        result = python(*command, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        return list(result.stdout.splitlines())

    return run


def test_the_call_does_what_run_does(tmp_path: Path, run: Any) -> None:
    plain, calling = tmp_path / "plain.py", tmp_path / "calling.py"
    # It may be too late for the first import of TensorFlow, and once is enough.
    late = "import tensorflow\n\n" + CALL.format("") * 2
    plain.write_text(PROGRAM)
    calling.write_text(late + PROGRAM)
    told = run(calling)
    assert told[0].startswith("1.15.5 False <class 'int'>")
    assert told == run("-m", "tfmigrate", "run", plain)
    # Under run it leaves all to that.
    assert told == run("-m", "tfmigrate", "run", calling)


def test_a_program_of_tf2_stays_eager(tmp_path: Path, run: Any) -> None:
    plain, calling = tmp_path / "plain.py", tmp_path / "calling.py"
    text = PROGRAM + "print(tf.optimizers.Adam.__name__, tf.losses.Huber.__name__)\n"
    plain.write_text(text)
    calling.write_text(CALL.format("version=2") + text)
    told = run(calling)
    assert told[0].startswith("2.15.1 True <class 'int'>")
    assert told == run("-m", "tfmigrate", "run", "--tf", "2", plain)
