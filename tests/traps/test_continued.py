"""Rewritten loops go on from checkpoints of real TF 1.15.5, or say how to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .forks import Ended, run

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "traps"
FIGURES = json.loads((FOLDER / "continued" / "tf115.json").read_text("utf-8"))
NAMES = ("gradients_of_parts", "adam")


def tfmigrate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tfmigrate", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )


@pytest.fixture(scope="module")
def continued(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The rewritten programs, each beside a copy of what TF 1.15.5 left."""
    folder = tmp_path_factory.mktemp("continued")
    sources = [str(FOLDER / "programs" / f"{name}.py") for name in NAMES]
    done = tfmigrate("rewrite", *sources, "--out", str(folder / "new"))
    assert done.returncode in (0, 1), done.stderr
    for name in NAMES:
        shutil.copytree(FOLDER / "continued" / name, folder / name / "model")
    for path in (folder / "new").rglob("*.py"):
        for name in NAMES if path.stem not in NAMES else (path.stem,):
            shutil.copy(path, folder / name)
    return {name: folder / name / f"{name}.py" for name in NAMES}


@pytest.fixture(scope="module")
def ended(continued: dict[str, Path]) -> dict[str, Ended]:
    return dict(zip(continued, run(continued.values()), strict=True))


def check(name: str, ended: Ended) -> None:
    assert ended.returncode == 0, ended.stderr
    assert ended.figures == pytest.approx(FIGURES[name], rel=2e-5)
    assert ended.figures["global_step"] == 10


def test_a_kept_model_fn_goes_on(ended: dict[str, Ended]) -> None:
    # Adam for some variables, momentum for others: slots, powers and step.
    check("gradients_of_parts", ended["gradients_of_parts"])


def test_layers_say_which_command_makes_it_theirs(
    ended: dict[str, Ended], continued: dict[str, Path]
) -> None:
    done = ended["adam"]
    assert done.returncode == 1
    (sentence,) = (line for line in done.stderr.splitlines() if "tfmigrate" in line)
    assert "is a checkpoint of TensorFlow 1" in sentence
    # Nothing was trained, and the old checkpoint is still the latest.
    model_dir = continued["adam"].with_name("model")
    before = {path.name for path in (FOLDER / "continued" / "adam").iterdir()}
    assert before <= {path.name for path in model_dir.iterdir()}
    state = (model_dir / "checkpoint").read_text("utf-8")
    assert 'model_checkpoint_path: "model.ckpt-5"' in state
    # What the program writes by itself says how the converted one is to look.
    fresh = continued["adam"].parents[1] / "fresh" / "adam.py"
    shutil.copytree(continued["adam"].parent, fresh.parent)
    shutil.rmtree(fresh.with_name("model"))
    assert run([fresh])[0].returncode == 0
    like = ["--like", str(fresh.with_name("model"))]
    there = ["-o", str(model_dir / "converted-5")]
    converted = tfmigrate("checkpoint", "convert", str(model_dir), *like, *there)
    assert converted.returncode == 0, converted.stderr
    (again,) = run([continued["adam"]])
    check("adam", again)
