"""model_fns of many kinds train on the loop module as they did on real TF 1.15.5.

The cases are in fixtures/oracle/cases, the recordings, with the tolerances that TF's own
noise justifies, in fixtures/oracle/model_fn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tfmigrate.verify.recording import load_recording

HERE = Path(__file__).parent
RECORDED = HERE.parents[1] / "fixtures" / "oracle" / "model_fn"
NOISE = json.loads((RECORDED / "noise.json").read_text())["cases"]
# Convolutions amplify rounding: they are compared for as many steps.
WINDOWS = {"convolution": 10}
# One optimizer, one layer, one clipping and one loss of each kind at once; the others
# with the slow tests.
QUICK = ["adam", "batch_norm", "embedding_sparse", "moving_average", "summed_loss"]
CASES = sorted(tuple(name.split(" r")) for name in NOISE)


def run_cases(out: Path, cases: list[tuple[str, ...]]) -> Path:
    command = [sys.executable, str(HERE / "case_child.py"), str(out)]
    run = subprocess.run(
        [*command, *(":".join(case) for case in cases)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return out


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chosen = [case for case in CASES if case[0] in QUICK]
    return run_cases(tmp_path_factory.mktemp("cases"), chosen)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chosen = [case for case in CASES if case[0] not in QUICK]
    return run_cases(tmp_path_factory.mktemp("cases"), chosen)


def assert_trained_as_recorded(out: Path, case: str, replicas: str) -> None:
    error = out / f"{case}-{replicas}.error"
    assert not error.exists(), error.read_text()
    ours: dict[str, Any] = json.loads((out / f"{case}-{replicas}.json").read_text())
    theirs = load_recording(RECORDED / case / f"tf115-r{replicas}")
    noise = NOISE[f"{case} r{replicas}"]
    window = WINDOWS.get(case, len(theirs.losses))
    assert len(ours["losses"]) == len(theirs.losses)
    np.testing.assert_allclose(
        ours["losses"][:window],
        theirs.losses[:window],
        rtol=noise["loss_tolerance"],
        atol=0,
    )
    if case in WINDOWS:
        return
    with np.load(out / f"{case}-{replicas}.npz") as final:
        for name, value in theirs.final_weights:
            np.testing.assert_allclose(
                final[name], value, rtol=0, atol=noise["weight_tolerance"], err_msg=name
            )
    # On final weights that agree to the tolerance, through a few layers.
    assert ours["evaluate"] == pytest.approx(dict(theirs.evaluate), rel=1e-4)


@pytest.mark.parametrize(
    ("case", "replicas"), [case for case in CASES if case[0] in QUICK]
)
def test_trains_as_recorded(case: str, replicas: str, quick: Path) -> None:
    assert_trained_as_recorded(quick, case, replicas)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "replicas"), [case for case in CASES if case[0] not in QUICK]
)
def test_all_kinds_train_as_recorded(case: str, replicas: str, others: Path) -> None:
    assert_trained_as_recorded(others, case, replicas)
