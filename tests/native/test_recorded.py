"""Optimizers and compiled models, against the steps of TF 1.15.5 from the same weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from runner import run_python, tfmigrate

from .program_texts import written

HERE = Path(__file__).resolve().parent
ORACLE = HERE.parents[1] / "fixtures" / "oracle"
# Of a rate that changes: the folder's name ends in the number of replicas.
CHANGING = sorted(
    path for path in (ORACLE / "changing_rates").iterdir() if path.is_dir()
)
COMPILED = sorted(
    path for path in (ORACLE / "keras_compile").iterdir() if path.is_dir()
)
RUNS = {
    path.name: (path, path.name.rpartition("-")[0], path.name[-1], 24, 5e-6)
    for path in CHANGING
} | {path.name: (path, path.name, "1", 20, 2e-6) for path in COMPILED}
# Each optimizer is seen alone by one schedule and on replicas by another: what is
# summed over replicas, and how a rate changes, is the same.
SEEN = ("steps-2", "warm_up-2", "table-1", "centered-2")
SLOW = {name for name in RUNS if name.endswith(SEEN)} - {"ftrl_table-1"}


@pytest.fixture(scope="module")
def recordings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What the rewritten programs did, from the weights TF 1.15.5 began with."""
    folder = tmp_path_factory.mktemp("recorded")
    programs = written((name for _, name, *_ in RUNS.values()), folder / "old")
    tfmigrate("rewrite", *programs, "--out", folder / "new")
    wanted = {
        item.callspec.params["run"]
        for item in request.session.items
        if item.path == request.path
    }
    for run, (recorded, name, replicas, steps, _) in RUNS.items():
        if run not in wanted:
            continue
        code = (folder / "new" / f"{name}.py").read_text("utf-8")
        if "tfmigrate" in code:
            continue  # it is kept: the tests of compat look at it
        program = folder / run / f"{name}.py"
        program.parent.mkdir()
        program.write_text(code, "utf-8")
        shutil.copy(folder / "new" / "training.py", program.parent)
        options = ["--no-shuffle", "--replicas", replicas, "--steps", str(steps)]
        start = str(recorded / "initial_weights.npz")
        paths = ["--initial-weights", start, "--out", str(folder / run / "out")]
        module = "tfmigrate.verify.instruments.tf2_program"
        done = run_python(
            *("-m", module, *options, *paths, program),
            env={"MODEL_DIR": str(folder / run / "files")},
        )
        (folder / run / "log").write_text(done.stderr, "utf-8")
    return folder


@pytest.mark.parametrize(
    "run",
    [pytest.param(run, marks=[pytest.mark.slow] * (run in SLOW)) for run in RUNS],
)
def test_the_steps_are_those_of_tf_1_15(recordings: Path, run: str) -> None:
    recorded, name, _, steps, tolerance = RUNS[run]
    code = (recordings / "new" / f"{name}.py").read_text("utf-8")
    if not (recordings / run).is_dir():
        assert "tfmigrate.compat.install()" in code
        return
    expected = json.loads((recorded / "recording.json").read_text("utf-8"))
    path = recordings / run / "out" / "recording.json"
    assert path.is_file(), (recordings / run / "log").read_text("utf-8")
    found = json.loads(path.read_text("utf-8"))
    assert len(found["losses"]) == len(expected["losses"]) == steps
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=tolerance)
