"""Canned models and heads against recordings of real TF 1.15.5 and TF 2.15.1.

Everything is compared that a user can see: the loss of every step, the dict of
evaluate with all its keys, predictions, names, shapes and values of the
variables in the checkpoint. Training starts from the step-0 checkpoint that
real TensorFlow wrote, so each case also proves that such a checkpoint loads.

Tolerances: TF 1.15.5 repeats these runs bit for bit; other TensorFlow builds
stay within 1e-6 relative for models of this size (float32, 20 steps).
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from runner import run_python

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE.parents[1] / "fixtures" / "oracle" / "canned"
LOSS_TOLERANCE = 5e-6
VALUE_TOLERANCE = 1e-4
# SDCA updates its weights from several threads and mini-batch k-means reads
# centers while it moves them: TF 1.15.5 does not repeat itself here. The margin is
# four times the largest difference that 20 runs of it have from its own recording
# (see noise.py). Losses of single steps are not compared.
NOISE = {
    f"{name}.1": 4 * measured["largest"]
    for name, measured in json.loads((RECORDINGS / "noise.json").read_text()).items()
}

# One process per group: importing TensorFlow costs more than a case. The groups
# of the default run hold one case of every kind; the rest of what was recorded is slow.
GROUPS: dict[str, tuple[str, ...]] = {
    "v1": (
        *("dnn_classifier_multi.2", "dnn_shared_embedding.1", "dnn_partitioned.1"),
        *("linear_classifier_binary.1", "linear_regressor.2", "combined_estimator.1"),
        *("linear_sdca_regressor.1", "combined_classifier.1", "baseline_classifier.1"),
        *("head_multi_label.1", "head_multi.2", "kmeans_full.1", "rnn_classifier.1"),
        "tpu_estimator.1",
    ),
    "v2": (
        *("dnn_classifier_multi.2", "linear_classifier_binary.1"),
        *("combined_classifier.1", "head_multi.1"),
    ),
}
GROUPS |= {
    f"{generation}-more": tuple(
        path.stem
        for path in sorted((RECORDINGS / generation).glob("*.npz"))
        if path.stem not in quick
    )
    for generation, quick in GROUPS.items()
}

# What TF 1.15 itself cannot train on two replicas ("handle is not available
# outside the replica context"): here two replicas have to equal one replica
# that gets the batches of both.
ONLY_HERE = {
    "two": ("linear_classifier_binary",),
    "two-more": (
        "baseline_classifier",
        "linear_classifier_multi",
        "combined_classifier",
    ),
}


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """The directory with the results of a group; each group runs once."""

    @functools.cache
    def run(group: str) -> Path:
        if group == "two":
            return run("v1")
        out = tmp_path_factory.mktemp(group)
        cases = GROUPS.get(group, ())
        more = ONLY_HERE.get("two" if group == "v1" else group, ())
        cases += tuple(f"{name}.{end}" for name in more for end in ("2", "2x"))
        child = HERE / "canned_child.py"
        generation = "v2" if group.startswith("v2") else "v1"
        done = run_python(child, generation, out, *cases, timeout=1500)
        assert done.returncode == 0, done.stderr
        return out

    return run


def _load(path: Path) -> tuple[dict, dict]:
    record = json.loads(Path(f"{path}.json").read_text())
    if "error" in record:
        pytest.fail(record["error"])
    with np.load(f"{path}.npz") as stored:
        return record, {key: stored[key] for key in stored.files}


def _parameters(groups: dict[str, tuple[str, ...]]):
    return [
        pytest.param(
            group,
            case,
            id=f"{group.partition('-')[0]}-{case}",
            marks=[pytest.mark.slow] if group.endswith("-more") else [],
        )
        for group, cases in groups.items()
        for case in cases
    ]


def _close(found, expected, tolerance, what, noise=None):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    if expected.dtype.kind in "US":
        assert found.tolist() == expected.tolist(), what
        return
    assert found.dtype == expected.dtype, what
    largest = float(np.abs(expected).max(initial=0.0))
    margin = tolerance * max(0.1, largest / 10)
    if noise and expected.dtype.kind == "f":
        margin = noise * max(1, largest)
    np.testing.assert_allclose(
        found, expected, rtol=tolerance, atol=margin, err_msg=what
    )


@pytest.mark.timeout(1600)
@pytest.mark.parametrize(("group", "case"), _parameters(GROUPS))
def test_equals_the_recording(results, group, case):
    generation = group.partition("-")[0]
    expected, expected_arrays = _load(RECORDINGS / generation / case)
    found, arrays = _load(results(group) / case)

    noise = NOISE.get(case)
    tolerance = VALUE_TOLERANCE if noise is None else 0
    if noise is None:
        _close(found["losses"], expected["losses"], LOSS_TOLERANCE, "losses by step")
    assert found["evaluate"].keys() == expected["evaluate"].keys()
    for key, value in expected["evaluate"].items():
        margin = VALUE_TOLERANCE / 100
        if noise:
            margin = 0 if key == "global_step" else noise * max(1, abs(value))
        assert found["evaluate"][key] == pytest.approx(
            value, rel=tolerance, abs=margin
        ), key
    assert found["variables"] == expected["variables"]
    assert found["trainable"] == expected["trainable"]
    compared = [k for k in expected_arrays if not k.startswith("initial:")]
    assert compared
    for key in compared:
        if "HashTable" not in key:
            _close(arrays[key], expected_arrays[key], tolerance, key, noise)
    predictions = {k for k in arrays if k.startswith("predictions:")}
    assert predictions == {k for k in compared if k.startswith("predictions:")}


@pytest.mark.timeout(1600)
@pytest.mark.parametrize(("group", "case"), _parameters(ONLY_HERE))
def test_two_replicas_equal_one_with_both_batches(results, group, case):
    two, two_arrays = _load(results(group) / f"{case}.2")
    one, one_arrays = _load(results(group) / f"{case}.2x")
    # The reduction of these models is SUM, so losses add up over replicas.
    _close(two["losses"], one["losses"], 2e-5, "losses by step")
    for key, value in one_arrays.items():
        if key.startswith(("final:", "predictions:")) and "Ftrl" not in key:
            _close(two_arrays[key], value, VALUE_TOLERANCE, key)
