"""Rewritten loops go on from checkpoints of real TF 1.15.5, or say how to."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "traps"
FIGURES = json.loads((FOLDER / "continued" / "tf115.json").read_text("utf-8"))
SHOW = (
    "import json, runpy, sys; found = runpy.run_path(sys.argv[1])['FIGURES']['result']; "
    "print(json.dumps({name: float(value) for name, value in found.items()}))"
)


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **environment},
    )


def rewritten(name: str, folder: Path) -> tuple[str, str]:
    """The rewrite of a program, and a copy of the folder that TF 1.15.5 left."""
    source = FOLDER / "programs" / f"{name}.py"
    done = run("-m", "tfmigrate", "rewrite", str(source), "--out", str(folder / "new"))
    assert done.returncode in (0, 1), done.stderr
    shutil.copytree(FOLDER / "continued" / name, folder / "model")
    (program,) = (folder / "new").rglob(f"{name}.py")
    return str(program), str(folder / "model")


def check(name: str, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found == pytest.approx(FIGURES[name], rel=2e-5)
    assert found["global_step"] == 10


def test_a_kept_model_fn_goes_on(tmp_path: Path) -> None:
    # Adam for some variables, momentum for others: slots, powers and step.
    program, model_dir = rewritten("gradients_of_parts", tmp_path)
    check("gradients_of_parts", run("-c", SHOW, program, MODEL_DIR=model_dir))


def test_layers_say_which_command_makes_it_theirs(tmp_path: Path) -> None:
    program, model_dir = rewritten("adam", tmp_path)
    before = sorted(Path(model_dir).iterdir())
    done = run("-c", SHOW, program, MODEL_DIR=model_dir)
    assert done.returncode == 1
    (sentence,) = (line for line in done.stderr.splitlines() if "tfmigrate" in line)
    assert "is of TensorFlow 1" in sentence
    # Nothing was trained, and the old checkpoint is still the latest.
    assert set(before) <= set(Path(model_dir).iterdir())
    state = (Path(model_dir) / "checkpoint").read_text("utf-8")
    assert 'model_checkpoint_path: "model.ckpt-5"' in state
    command = re.search(r"tfmigrate (checkpoint convert .*)$", sentence)
    assert command is not None
    converted = run("-m", "tfmigrate", *shlex.split(command[1]))
    assert converted.returncode == 0, converted.stderr
    check("adam", run("-c", SHOW, program, MODEL_DIR=model_dir))
