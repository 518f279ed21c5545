"""The Estimator engine, against recordings of real TensorFlow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ORACLE = HERE.parent.parent / "fixtures" / "oracle" / "engine"


def run_check(name: str, *args: str, timeout: float = 540) -> str:
    """Runs one file of engine_checks in a process of its own."""
    done = subprocess.run(
        [sys.executable, HERE / "engine_checks" / name, *args],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def test_a_whole_lifecycle_is_what_real_tensorflow_showed(tfmigrate: Any) -> None:
    """Hook order, fetches, checkpoints, event files and errors, to the letter."""
    done = tfmigrate("run", ORACLE / "lifecycle_program.py")
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    recorded = json.loads((ORACLE / "lifecycle_tf115.json").read_text())
    assert seen.pop("errors") == recorded.pop("errors")
    for part, expected in recorded.items():
        assert seen[part] == expected, part
    assert set(seen) == set(recorded)


@pytest.mark.oracle
def test_the_lifecycle_recording_is_what_tensorflow_prints_now() -> None:
    python = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if not python:
        pytest.skip("TFMIGRATE_TF115_PYTHON is not set")
    done = subprocess.run(
        [python, ORACLE / "lifecycle_program.py"],
        capture_output=True,
        text=True,
        timeout=540,
    )
    recorded = json.loads((ORACLE / "lifecycle_tf115.json").read_text())
    assert json.loads(done.stdout) == recorded


def test_every_form_of_input_function() -> None:
    assert "all inputs ok" in run_check("inputs.py")


@pytest.mark.slow
def test_every_form_of_input_function_in_a_session_process() -> None:
    assert "all inputs ok" in run_check("inputs.py", "graph")
