"""model_fn programs train under compat as they did on real TensorFlow 1.15.5.

The cases are in fixtures/oracle/cases, what the real thing did with them in
fixtures/oracle/model_fn, with the tolerances that its own noise justifies.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from runner import run_python
from tfmigrate.verify.recording import Recording, load_recording

ORACLE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle"
DRIVER = ORACLE / "cases" / "driver.py"
NOISE = json.loads((ORACLE / "model_fn" / "noise.json").read_text())
RECORDED = [tuple(name.split(" ")) for name in NOISE["cases"]]
# What real TF cannot run with two replicas is compared with its single replica
# on the double batch, whose mean is the same.
DOUBLED = [tuple(name.split(" ")) for name in NOISE["not_recorded"]]
FLOOR = 1e-5
# One replica is seen by these; what an optimizer or a layer computes, by two replicas.
WITH_ONE = {"adam", "batch_norm", "embedding_sparse", "ftrl", "lstm", "moving_average"}
# Convolutions amplify rounding; cases built on them set this many steps.
WINDOWS = {"convolution": 10}


# The first test waits for all runs: 80 s of computing, more on a busy machine.
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """All cases that are asked for, run in one process."""
    out = tmp_path_factory.mktemp("cases")
    weights = out / "weights"
    weights.mkdir()
    for case in {case for case, _ in RECORDED}:
        source = ORACLE / "model_fn" / case / "tf115-r1" / "initial_weights.npz"
        (weights / f"{case}.npz").symlink_to(source)
    cases = sorted(
        "-".join((item.callspec.params["case"], item.callspec.params["replicas"]))
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    )
    argv = (DRIVER, "--compat", "--out", out, "--weights", weights, *cases)
    done = run_python(*argv, timeout=1100)
    assert done.returncode == 0, done.stderr[-4000:]
    return out


def run_of(runs: Path, case: str, replicas: str) -> Recording:
    failures = json.loads((runs / "failures.json").read_text())
    assert f"{case} {replicas}" not in failures, failures
    return load_recording(runs / case / replicas)


def assert_same_training(
    ours: Recording, theirs: Recording, case: str, loss: float, weight: float
) -> None:
    assert ours.global_step == theirs.global_step
    assert [name for name, _ in ours.final_weights] == [
        name for name, _ in theirs.final_weights
    ]
    window = WINDOWS.get(case, len(theirs.losses))
    assert len(ours.losses) == len(theirs.losses)
    np.testing.assert_allclose(
        ours.losses[:window], theirs.losses[:window], rtol=loss, atol=0
    )
    if case not in WINDOWS:
        for (name, ours_value), (_, value) in zip(
            ours.final_weights, theirs.final_weights, strict=True
        ):
            np.testing.assert_allclose(
                ours_value, value, rtol=0, atol=weight, err_msg=name
            )


def test_the_recordings_tell_runs_apart() -> None:
    """The tolerance is far below what a change of optimizer or batch does."""
    losses = [
        load_recording(ORACLE / "model_fn" / case / "tf115-r1").losses
        for case in ("adam", "adagrad", "rmsprop", "sgd_staircase")
    ]
    losses.append(load_recording(ORACLE / "model_fn" / "adam" / "tf115-r2").losses)
    for index, first in enumerate(losses):
        for second in losses[:index]:
            apart = np.abs(np.array(first) / np.array(second) - 1).max()
            assert apart > 1000 * FLOOR


@pytest.mark.parametrize(
    ("case", "replicas"),
    [
        pytest.param(
            *each,
            id="-".join(each),
            marks=[pytest.mark.slow] * (each[1] == "r1" and each[0] not in WITH_ONE),
        )
        for each in RECORDED
    ],
)
def test_trains_as_recorded(runs: Path, case: str, replicas: str) -> None:
    ours = run_of(runs, case, replicas)
    theirs = load_recording(ORACLE / "model_fn" / case / f"tf115-{replicas}")
    noise = NOISE["cases"][f"{case} {replicas}"]
    assert_same_training(
        ours, theirs, case, noise["loss_tolerance"], noise["weight_tolerance"]
    )
    if case in WINDOWS:
        # Trained on beyond the window, where rounding has grown a thousandfold.
        assert ours.evaluate == pytest.approx(dict(theirs.evaluate), rel=1e-2)
        return
    # Evaluated on final weights that agree to the tolerance, through a few layers.
    assert ours.evaluate == pytest.approx(dict(theirs.evaluate), rel=1e-4)
    assert set(ours.predictions) == set(theirs.predictions)
    for name, values in theirs.predictions.items():
        assert ours.predictions[name].dtype == values.dtype
        np.testing.assert_allclose(ours.predictions[name], values, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("case", "replicas"), DOUBLED)
def test_two_replicas_where_tf1_had_none(runs: Path, case: str, replicas: str) -> None:
    ours = run_of(runs, case, replicas)
    theirs = load_recording(ORACLE / "model_fn" / case / "tf115-r1-double")
    assert_same_training(ours, theirs, case, FLOOR, FLOOR)
