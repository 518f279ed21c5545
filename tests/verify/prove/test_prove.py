"""`rewrite --prove`: what trains otherwise is kept, and the project stays as it is."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import runner
from jsonschema import validate
from tfmigrate.forms.json_report import schema

Runner = Callable[..., "subprocess.CompletedProcess[str]"]

PROGRAMS = Path(__file__).with_name("programs")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Three programs: one that cannot be proved, one that is refuted, one that asks."""
    return Path(shutil.copytree(PROGRAMS, tmp_path / "project"))


def texts(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_without_programs_nothing_is_run(tmp_path: Path, tfmigrate: Runner) -> None:
    (tmp_path / "names.py").write_text(
        "import tensorflow as tf\ntf.random_normal([2])\n"
    )
    done = tfmigrate("rewrite", tmp_path, "--prove", "--check", cwd=tmp_path)
    assert done.returncode == 1  # something to rewrite
    assert "prov" not in done.stdout
    assert "nothing to prove: no program becomes native" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-", "--prove"], "--prove runs programs in their folder"),
        ([".", "--prove-command", "make"], "starts no Python program"),
        ([".", "--prove-command", "python 'x"], "No closing quotation"),
        ([".", "--prove-command", "python absent.py"], "there is no absent.py"),
    ],
)
def test_wrong_usage(
    arguments: list[str], told: str, project: Path, tfmigrate: Runner
) -> None:
    before = texts(project)
    done = tfmigrate("rewrite", *arguments, "--check", cwd=project, input="")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert texts(project) == before


def test_each_program_ends_where_its_trial_says(project: Path) -> None:
    before = texts(project)
    done = runner.tfmigrate(
        *["rewrite", ".", "--prove", "--prove-steps", 4, "--check"],
        *["--format", "json"],
        cwd=project,
    )
    assert done.returncode == 1, done.stderr
    assert texts(project) == before
    report = json.loads(done.stdout)
    validate(report, schema())
    told = {
        proof["program"]: (proof["outcome"], proof["told"])
        for proof in report["proofs"]
    }
    # Run without its argument it fails, before the rewrite too.
    outcome, reason = told.pop("asked.py")
    assert outcome == "not proved"
    assert "did not run before the rewrite" in reason
    assert "IndexError" in reason
    outcome, reason = told.pop("noisy.py")
    assert outcome == "not proved"
    assert "random numbers while it trains (random_gamma" in reason
    # Its loss hangs on what TensorFlow has: what it becomes cannot be right.
    outcome, reason = told.pop("scaled.py")
    assert outcome == "refuted"
    assert "part at step 1" in reason
    assert not told
    outcomes = {
        file["path"]: file["program"]["outcome"]
        for file in report["files"]
        if file["program"] is not None
    }
    assert outcomes == {"asked.py": "native", "noisy.py": "native", "scaled.py": "kept"}
    (left,) = [
        finding
        for file in report["files"]
        if file["path"] == "scaled.py"
        for finding in file["findings"]
        if finding["outcome"] == "left"
    ]
    assert left["reason"].startswith("--prove showed a difference: the losses part")


def test_a_command_proves_the_program_that_it_starts(project: Path) -> None:
    done = runner.tfmigrate(
        *["rewrite", "asked.py", "--prove-command", "python asked.py word"],
        *["--prove-steps", 4, "--allow-dirty"],
        cwd=project,
    )
    assert done.returncode == 0, done.stderr
    assert "asked.py: proved: they train the same over 4 steps" in done.stdout
    assert "tf.estimator" not in (project / "asked.py").read_text()
    # What the program writes it wrote into the copies.
    assert not (project / "seen.txt").exists()
