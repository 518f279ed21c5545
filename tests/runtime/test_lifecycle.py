"""An Estimator's life on the loop module, compared with recordings of real TF 1.15.

The scenarios and recordings are in fixtures/oracle/lifecycle.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_recordings import ORACLE, check, differences, observe

RECORDINGS = ORACLE / "lifecycle" / "tf1.15"

REPLICAS = [
    "replicas_values",
    "replicas_train_and_evaluate",
    "replicas_early_stopping",
]
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


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    names = [f"{module}.{name}" for module in SCENARIOS for name in SCENARIOS[module]]
    return observe(tmp_path_factory.mktemp("lifecycle") / "observed.json", names)


@pytest.mark.parametrize(
    "name", [name for names in SCENARIOS.values() for name in names]
)
def test_lives_as_in_tf_1_15(name: str, observed: dict[str, Any]) -> None:
    check(RECORDINGS / f"{name}.json", observed[name], KNOWN_DIFFERENCES.get(name))


@pytest.fixture(scope="module")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    names = [f"scenarios_replicas.{name}" for name in REPLICAS]
    out = tmp_path_factory.mktemp("lifecycle") / "replicas.json"
    return observe(out, names, "--replicas", "2")


# A process of its own with two devices: with the slow tests.
@pytest.mark.slow
@pytest.mark.parametrize("name", REPLICAS)
def test_two_replicas_live_as_in_tf_1_15(name: str, replicated: dict[str, Any]) -> None:
    check(RECORDINGS / f"{name}.json", replicated[name])


def test_recordings_tell_training_apart() -> None:
    """A scenario that trained otherwise would not pass for another."""
    recorded = json.loads((RECORDINGS / "averaged.json").read_text())["observed"]
    other = json.loads(json.dumps(recorded))
    other["checkpoint"]["kernel"][0] += 1e-4
    assert list(differences(recorded, other))
