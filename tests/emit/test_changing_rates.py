"""Optimizers whose rate changes or that move tables, against TF 1.15.5."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .one_module import run

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "changing_rates"
ORACLE = HERE.parents[1] / "fixtures" / "oracle" / "changing_rates"
RECORDED = sorted(path.name for path in ORACLE.iterdir() if path.is_dir())
# The loop module keeps these: rates that are computed from the step, tables, and
# momentum that gathers gradients while the rate changes.
IN_PLACE = ("adadelta_steps", "ftrl_power")
RUNS = [
    ("tf_keras" if name.startswith(IN_PLACE) else "module", name) for name in RECORDED
]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the rewritten programs did, from the weights TF 1.15.5 began with."""
    folder = tmp_path_factory.mktemp("changing_rates")
    moved = ["rewrite", str(PROGRAMS), "--out", str(folder / "rewritten")]
    subprocess.run(
        [sys.executable, "-m", "tfmigrate", *moved], check=False, capture_output=True
    )
    shutil.copy(folder / "rewritten" / "training_loop.py", folder)
    jobs = []
    for keras, recorded in RUNS:
        name, _, replicas = recorded.rpartition("-")
        program = folder / f"{keras}-{recorded}.py"
        if keras == "module":
            shutil.copy(folder / "rewritten" / f"{name}.py", program)
        else:
            code = (PROGRAMS / f"{name}.py").read_text("utf-8")
            program.write_text(run(code).module.code, "utf-8")
        start = ORACLE / recorded / "initial_weights.npz"
        options = ["--no-shuffle", "--replicas", replicas, "--steps", "24"]
        paths = ["--initial-weights", str(start), "--out", str(program.with_suffix(""))]
        kind = "module_program" if keras == "module" else "tf2_program"
        module = f"tfmigrate.verify.instruments.{kind}"
        log = str(program.with_suffix(".log"))
        jobs.append((log, module, [*options, *paths, str(program)]))
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), "utf-8")
    files = str(folder / "files")
    subprocess.run(
        [sys.executable, str(HERE / "forked.py"), str(listed)],
        check=False,
        env={**os.environ, "MODEL_DIR": files},
    )
    return folder


@pytest.mark.parametrize(("keras", "name"), RUNS)
def test_the_steps_are_those_of_tf_1_15(
    recordings: Path, keras: str, name: str
) -> None:
    expected = json.loads((ORACLE / name / "recording.json").read_text("utf-8"))
    path = recordings / f"{keras}-{name}" / "recording.json"
    assert path.is_file(), (recordings / f"{keras}-{name}.log").read_text("utf-8")
    found = json.loads(path.read_text("utf-8"))
    assert len(found["losses"]) == len(expected["losses"]) == 24
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=5e-6)
