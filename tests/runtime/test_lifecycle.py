"""An Estimator's life on the loop module, compared with recordings of real TF 1.15.

The scenarios and recordings are in fixtures/oracle/lifecycle; what is compared, and how
closely, is as for the compat layer.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
LIFECYCLE = HERE.parents[1] / "fixtures" / "oracle" / "lifecycle"
RECORDINGS = LIFECYCLE / "tf1.15"
sys.path[:0] = [str(HERE), str(LIFECYCLE)]

SCENARIOS = {
    "scenarios": [
        "train_and_evaluate_order",
        "end_of_data",
        "exporters",
        "export_saved_model",
        "export_outputs",
        "early_stopping",
        "in_memory_evaluator",
    ],
    "scenarios_state": [
        "warm_start",
        "init_from_checkpoint",
        "partitioned",
        "averaged",
        "event_files",
    ],
}
# Scenario -> place in it -> what ours says instead, and why.
KNOWN_DIFFERENCES: dict[str, dict[str, Any]] = {
    # TF 1.15 lets the first evaluation of a run compete with itself, so it is never
    # exported. TF 2.15 exports it, as we do.
    "exporters": {"/to_8/best": [2, 4, 8]},
    # The op has a new version; clients feed by signature key, not by op name.
    "export_outputs": {
        "/signatures/raw:predict/inputs/x/0": "ParseExample/ParseExampleV2:0"
    },
}


def without_graphs(seen: Any) -> Any:
    """An observation without the files and events that hold nothing but a graph.

    A checkpoint of the module has no graph beside it, and its event files hold the
    graph once instead of twice.
    """
    if isinstance(seen, dict):
        return {name: without_graphs(value) for name, value in seen.items()}
    if isinstance(seen, list):
        kept = [value for value in seen if not is_graph(value)]
        return [without_graphs(value) for value in kept]
    return seen


def is_graph(value: Any) -> bool:
    if isinstance(value, str):
        return bool(re.fullmatch(r"(.*/)?(graph\.pbtxt|model\.ckpt-\d+\.meta)", value))
    return (
        isinstance(value, list)
        and len(value) == 2
        and value[1] in ("graph_def", "meta_graph_def")
    )


def differences(want: Any, got: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(set(want) | set(got)):
            if key in want and key in got:
                yield from differences(want[key], got[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}", want.get(key, "absent"), got.get(key, "absent")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, (a, b) in enumerate(zip(want, got, strict=True)):
            yield from differences(a, b, f"{path}/{index}")
    elif isinstance(want, float) and isinstance(got, int | float):
        # Recorded with six digits: between that rounding and the first that matters.
        if abs(want - got) > 2e-6 * max(1.0, abs(want)):
            yield path, want, got
    elif want != got:
        yield path, want, got


def check(name: str, observed: Any) -> None:
    recorded = json.loads((RECORDINGS / f"{name}.json").read_text())["observed"]
    allowed = KNOWN_DIFFERENCES.get(name, {})
    ours = json.loads(json.dumps(observed))
    found = list(differences(without_graphs(recorded), without_graphs(ours)))
    unknown = [d for d in found if allowed.get(d[0]) != d[2]]
    assert not unknown, "\n".join(
        f"{p}:\n  TF   {a}\n  ours {b}" for p, a, b in unknown
    )
    assert {d[0] for d in found} == set(allowed), "a known difference is gone"


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What all scenarios saw, in one process that is like a rewritten program's."""
    out = tmp_path_factory.mktemp("lifecycle") / "observed.json"
    command = [sys.executable, str(HERE / "scenario_child.py"), str(out)]
    for module, names in SCENARIOS.items():
        command += [f"{module}.{name}" for name in names]
    run = subprocess.run(
        command,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.mark.parametrize(
    "name", [name for names in SCENARIOS.values() for name in names]
)
def test_lives_as_in_tf_1_15(name: str, observed: dict[str, Any]) -> None:
    assert "error" not in observed[name], observed[name]["error"]
    check(name, observed[name]["observed"])


def test_recordings_tell_training_apart() -> None:
    """A scenario that trained otherwise would not pass for another."""
    recorded = json.loads((RECORDINGS / "averaged.json").read_text())["observed"]
    other = json.loads(json.dumps(recorded))
    other["checkpoint"]["kernel"][0] += 1e-4
    assert list(differences(recorded, other))


def test_names_are_those_of_modules_that_exist() -> None:
    for module in SCENARIOS:
        assert set(SCENARIOS[module]) <= set(importlib.import_module(module).SCENARIOS)
