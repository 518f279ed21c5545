"""``tf.contrib.timeseries`` against numbers recorded from real TF 1.15.5."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runner import run

ORACLE = Path(__file__).parents[2] / "fixtures" / "oracle" / "contrib"
RECORDED: dict[str, Any] = json.loads(
    (ORACLE / "recorded_timeseries.json").read_text()
)["cases"]

# Five steps in float32 with different kernels.
RELATIVE, ABSOLUTE = 1e-4, 1e-5


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("timeseries") / "ours.json"
    script = ORACLE / "record_timeseries.py"
    done = run(script, out, on="compat", watch=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(out.read_text())["cases"]
    return found


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [part for key in sorted(value) for part in flat(value[key])]
    if isinstance(value, list):
        return [part for each in value for part in flat(each)]
    return [value]


@pytest.mark.parametrize("name", sorted(set(RECORDED) - {"windows"}))
def test_same_names_and_numbers(name: str, ours: dict[str, Any]) -> None:
    theirs, made = RECORDED[name], ours[name]
    assert made["variables"] == theirs["variables"]
    for part in ("losses", "evaluation", "prediction"):
        expected, found = np.array(flat(theirs[part])), np.array(flat(made[part]))
        assert found.shape == expected.shape, part
        np.testing.assert_allclose(
            found, expected, rtol=RELATIVE, atol=ABSOLUTE, err_msg=f"{name} {part}"
        )


def test_random_windows_of_a_file(ours: dict[str, Any]) -> None:
    assert ours["windows"] == RECORDED["windows"]
