"""Checkpoints go on: those of real TF 1.15.5 on the loop module, and the other way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
CHILD = str(HERE / "checkpoint_child.py")
ORACLE = HERE.parents[1] / "fixtures" / "oracle"
HANDOVER = ORACLE / "lifecycle" / "handover"
KERAS = ORACLE / "checkpoint" / "keras"
STEP_9 = json.loads((HANDOVER / "step_9.json").read_text())["step_9"]
RECORDED: dict[str, Any] = json.loads((KERAS / "recorded.json").read_text())
NAMES = list(RECORDED["until 20"])
# Adam divides by the roots of tiny second moments, so the last bits in which two
# builds differ grow. A slot that was not restored shows in the second digit.
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the module has continued what TF 1.15 left, and begun for it."""
    folder = tmp_path_factory.mktemp("checkpoints")
    shutil.copytree(HANDOVER, folder / "recorded" / "handover")
    shutil.copytree(KERAS, folder / "recorded" / "keras")
    run_python([sys.executable, CHILD, "recorded", str(folder)])
    return folder


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "recorded.json").read_text())
    return found


def run_python(command: list[str]) -> str:
    run = subprocess.run(
        command,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return run.stdout


def assert_same_values(got: dict[str, Any], want: dict[str, Any]) -> None:
    assert sorted(got) == sorted(want)
    for name, value in want.items():
        assert np.shape(got[name]) == np.shape(value), name
        np.testing.assert_allclose(got[name], value, err_msg=name, **TOLERANCE)


def assert_trained_alike(got: dict[str, Any], want: dict[str, Any]) -> None:
    assert got["losses"] == pytest.approx(want["losses"], rel=1e-5)
    assert got["evaluate"] == pytest.approx(want["evaluate"], rel=1e-4)
    assert got["variables"] == want["variables"]


def test_slots_powers_averages_and_parts_go_on(seen: dict[str, Any]) -> None:
    assert_same_values(seen["handover"], STEP_9)


@pytest.mark.parametrize("name", NAMES)
def test_keras_layers_go_on(name: str, seen: dict[str, Any]) -> None:
    assert_trained_alike(seen["keras"][name], RECORDED["until 20"][name])


@pytest.mark.parametrize("name", NAMES)
def test_a_fresh_checkpoint_is_named_as_in_tf_1_15(
    name: str, seen: dict[str, Any]
) -> None:
    begun, recorded = seen["begun"][name], RECORDED["until 10"][name]
    assert begun["variables"] == recorded["variables"]
    # The weights were drawn anew: the comparisons above can fail.
    assert begun["losses"] != pytest.approx(recorded["losses"], rel=1e-3)


@pytest.mark.oracle
@pytest.mark.slow
def test_tf_1_15_goes_on(folder: Path) -> None:
    real = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if not real:
        pytest.skip("TFMIGRATE_TF115_PYTHON names no interpreter with TF 1.15")
    run_python([sys.executable, CHILD, "continued", str(folder)])
    ours = json.loads((folder / "continued.json").read_text())
    begun = folder / "begun"
    script = str(ORACLE / "lifecycle" / "handover.py")
    said = run_python([real, script, "finish", str(begun / "handover")])
    theirs = json.loads(said.splitlines()[-1])
    assert_same_values(ours["handover"], theirs)
    script = str(ORACLE / "checkpoint" / "keras_program.py")
    said = run_python([real, script, str(begun / "keras"), "20", "10"])
    theirs = json.loads(said.splitlines()[-1])
    for name in NAMES:
        assert_trained_alike(ours["keras"][name], theirs[name])
