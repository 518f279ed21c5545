"""The Estimator engine, against recordings of real TensorFlow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runner import run_python

pytestmark = pytest.mark.tensorflow

HERE = Path(__file__).parent
ORACLE = HERE.parent.parent / "fixtures" / "oracle" / "engine"


def run_check(name: str, *args: str) -> str:
    """Runs one file of engine_checks in a process of its own."""
    done = run_python(HERE / "engine_checks" / name, *args)
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


def test_steps_that_repeat_themselves_are_steps() -> None:
    assert "short steps ok" in run_check("short_steps.py")


def compare_resumed(seen: dict[str, Any], recorded: dict[str, Any]) -> None:
    """Same names, and values apart by rounding only.

    Two builds of TensorFlow differ by 5e-7 in these variables after eight
    steps; a lost slot or moving average differs in the second digit.
    """
    assert set(seen["variables"]) == set(recorded["variables"])
    np.testing.assert_allclose(seen["losses"], recorded["losses"], rtol=2e-6)
    for name, value in recorded["variables"].items():
        np.testing.assert_allclose(
            seen["variables"][name], value, rtol=1e-5, atol=5e-6, err_msg=name
        )
    assert seen["evaluation"] == pytest.approx(recorded["evaluation"], rel=1e-5)


def test_checkpoints_of_real_tensorflow_are_continued_and_understood_by_it(
    tfmigrate: Any, tmp_path: Path
) -> None:
    model_dir = tmp_path / "model"
    shutil.copytree(ORACLE / "resume_tf115", model_dir)
    program = ORACLE / "resume_program.py"
    done = tfmigrate("run", program, model_dir, "4")
    assert done.returncode == 0, done.stderr[-3000:]
    compare_resumed(
        json.loads(done.stdout),
        json.loads((ORACLE / "resume_tf115_steps_5_to_8.json").read_text()),
    )
    python = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if python:
        # Real TensorFlow goes on from what was written here.
        real = subprocess.run(
            [python, program, model_dir, "4"],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert real.returncode == 0, real.stderr[-3000:]
        compare_resumed(
            json.loads(real.stdout),
            json.loads((ORACLE / "resume_tf115_steps_9_to_12.json").read_text()),
        )


@pytest.mark.slow
def test_memory_does_not_grow_and_three_gigabytes_train(tmp_path: Path) -> None:
    assert "memory ok" in run_check("memory.py", str(tmp_path))


def test_replicas_train_like_one_device_with_the_whole_batch() -> None:
    assert "all true means ok" in run_check("replicas.py", "mean")


def test_other_strategies_tower_names_and_keras_checkpoints() -> None:
    assert "all replicas ok" in run_check("replicas.py")


@pytest.mark.slow
def test_replicas_in_a_session_process() -> None:
    assert "all replicas ok" in run_check("replicas.py", "graph")


def test_keras_models_are_what_real_tensorflow_made_of_them(tfmigrate: Any) -> None:
    """Losses, metrics and their names, variables and predictions.

    Two builds of TensorFlow agree to 1e-6 relative in these models.
    """
    done = tfmigrate("run", ORACLE / "keras_program.py")
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    recorded = json.loads((ORACLE / "keras_tf115.json").read_text())
    assert seen.pop("errors") == recorded.pop("errors")
    assert set(seen) == set(recorded)
    for name, expected in recorded.items():
        found = seen[name]
        assert found["variables"] == expected["variables"], name
        assert found["the model object is unchanged"], name
        np.testing.assert_allclose(found["losses"], expected["losses"], rtol=5e-6)
        for part in ("evaluation", "sums"):
            assert found[part] == pytest.approx(expected[part], rel=2e-5, abs=1e-6)
        assert set(found["predictions"]) == set(expected["predictions"])
        for key, value in expected["predictions"].items():
            np.testing.assert_allclose(found["predictions"][key], value, rtol=2e-5)
