"""Canned Estimators as Keras models of the program, against TensorFlow 1.15.5.

Every program is rewritten onto the loop module, goes on from the checkpoint that
TensorFlow 1.15.5 wrote before its first step, and has to be T1: the loss of each step,
all figures of evaluate, predictions, and the variables of the last checkpoint by their
names, slots included, are those of the recording.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.rewriting.pipeline import Job

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parents[1] / "fixtures" / "oracle" / "canned" / "v1"
sys.path[:0] = [str(HERE), str(HERE.parent / "around")]

from here import run_here  # noqa: E402
from programs import program  # noqa: E402

# Two builds round differently.
TOLERANCE = {"rtol": 2e-6, "atol": 1e-6}

# One process per group: importing TensorFlow costs more than a program.
QUICK = (
    "dnn_classifier_binary.1",
    "dnn_classifier_multi.2",
    "linear_classifier_binary.1",
    "combined_classifier.1",
)
MORE = (
    "baseline_classifier.1",
    "baseline_estimator.1",
    "baseline_estimator.2",
    "baseline_regressor.1",
    "baseline_regressor.2",
    "combined_estimator.1",
    "combined_regressor.1",
    "combined_regressor.2",
    "combined_wide_only.1",
    "dnn_classifier_binary.2",
    "dnn_classifier_multi.1",
    "dnn_partitioned.1",
    "dnn_regressor.1",
    "dnn_regressor_mean.1",
    "dnn_regressor_mean.2",
    "dnn_shared_embedding.1",
    "linear_classifier_multi.1",
    "linear_estimator.1",
    "linear_regressor.1",
    "linear_regressor.2",
)
CASES = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)]


@functools.cache
def ran(names: tuple[str, ...], folder: Path) -> dict[str, dict[str, Any]]:
    """What the rewritten programs of a group saw, from one process."""
    legacy = folder / "legacy"
    legacy.mkdir(parents=True)
    for name in names:
        (legacy / f"{name.replace('.', '_')}.py").write_text(program(name))
    job = Job(options=RewriteOptions(style="module"))
    report = run_here(sorted(legacy.glob("*.py")), job)
    tiers = {r.path.stem: r.program.tier.value for r in report.results if r.program}
    assert tiers == {name.replace(".", "_"): "T1" for name in names}
    for result in report.changed:
        assert result.new is not None
        (folder / result.path.name).write_bytes(result.new)
    subprocess.run(
        [sys.executable, str(HERE / "child.py"), str(folder), *names],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        timeout=1200,
    )
    places = {name: folder / f"{name.replace('.', '_')}.json" for name in names}
    return {name: json.loads(path.read_text()) for name, path in places.items()}


@pytest.mark.parametrize("name", CASES)
def test_trains_as_recorded(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    group = QUICK if name in QUICK else MORE
    folder = tmp_path_factory.getbasetemp() / f"canned-models-{len(group)}"
    found = ran(group, folder)[name]
    assert "error" not in found, found["error"]
    recorded = json.loads((RECORDED / f"{name}.json").read_text())
    if name.endswith(".1"):
        np.testing.assert_allclose(found["losses"], recorded["losses"], **TOLERANCE)
    assert found["evaluate"].keys() == recorded["evaluate"].keys()
    for key, value in recorded["evaluate"].items():
        np.testing.assert_allclose(found["evaluate"][key], value, **TOLERANCE)
    ours = np.load(folder / f"{name.replace('.', '_')}.npz", allow_pickle=True)
    theirs = np.load(RECORDED / f"{name}.npz", allow_pickle=True)
    wanted = {k for k in theirs.files if k.startswith(("final:", "predictions:"))}
    assert set(ours.files) == wanted
    for key in wanted:
        if theirs[key].dtype.kind == "f":
            np.testing.assert_allclose(
                ours[key], theirs[key], rtol=1e-4, atol=1e-5, err_msg=key
            )
        elif key != "final:global_step":
            # Texts are bytes in predictions; the recordings have them decoded.
            found_ones, wanted_ones = (one[key].astype("S") for one in (ours, theirs))
            assert found_ones.tolist() == wanted_ones.tolist(), key
