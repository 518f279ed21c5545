"""``tf.contrib`` against numbers recorded from real TF 1.15.5."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
ORACLE = REPOSITORY / "fixtures" / "oracle" / "contrib"
RECORDED: dict[str, Any] = {
    name: case
    for recording in (
        "recorded.json",
        "recorded_seq2seq.json",
        "recorded_more.json",
    )
    for name, case in json.loads((ORACLE / recording).read_text())["cases"].items()
}

# Both sides compute in float32 with different kernels. Three runs of the recorder
# on TF 1.15.5 wrote the same file byte for byte, so this is for kernels only.
RELATIVE, ABSOLUTE = 2e-5, 2e-6


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("contrib") / "ours.json"
    script = str(ORACLE / "record_more.py")
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate", "run", script, "--all", str(out)],
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(out.read_text())["cases"]
    return found


def differences(theirs: Any, ours: Any, path: str = "") -> list[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if theirs.keys() != ours.keys():
            return [f"{path}: {sorted(theirs)} against {sorted(ours)}"]
        return [
            line
            for k in theirs
            for line in differences(theirs[k], ours[k], f"{path}/{k}")
        ]
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return [f"{path}: {len(theirs)} elements against {len(ours)}"]
        return [
            line
            for i, (a, b) in enumerate(zip(theirs, ours, strict=True))
            for line in differences(a, b, f"{path}[{i}]")
        ]
    if isinstance(theirs, float | int) and isinstance(ours, float | int):
        if math.isnan(theirs) and math.isnan(ours):
            return []
        if math.isclose(theirs, ours, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            return []
    elif theirs == ours:
        return []
    return [f"{path}: {theirs} against {ours}"]


@pytest.mark.parametrize("name", sorted(set(RECORDED) - {"initial_values"}))
def test_numbers_names_and_collections(name: str, ours: dict[str, Any]) -> None:
    assert "error" not in RECORDED[name]
    found = differences(RECORDED[name], ours[name])
    assert not found, "\n".join(found[:10])


def test_initial_values_have_the_same_distribution(ours: dict[str, Any]) -> None:
    """Mean, deviation and limit of at least 9,000 draws each."""
    for name, (mean, deviation, limit) in RECORDED["initial_values"].items():
        our_mean, our_deviation, our_limit = ours["initial_values"][name]
        assert abs(our_mean - mean) < 5 * deviation / math.sqrt(9000), name
        assert our_deviation == pytest.approx(deviation, rel=0.03), name
        assert our_limit == pytest.approx(limit, rel=0.03), name


def test_the_page_of_names_is_current() -> None:
    """In a process of its own: tests that ran before must not show in it."""
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate.compat.surface.document"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == (REPOSITORY / "docs" / "contrib.md").read_text()
