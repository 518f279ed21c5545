"""An Estimator's life on compat, compared with recordings of real TF 1.15.

The scenarios and recordings are in fixtures/oracle/lifecycle. Numbers are
recorded with six digits; compared with 2e-6 relative, which is between that
rounding (5e-7) and the first digit that matters.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from comparing import differences

LIFECYCLE = Path(__file__).parents[2] / "fixtures" / "oracle" / "lifecycle"
RECORDINGS = LIFECYCLE / "tf1.15"

# Scenario -> place in it -> what ours says instead, and why.
KNOWN_DIFFERENCES: dict[str, dict[str, Any]] = {
    # TF 1.15 lets the first evaluation of a run compete with itself, so it is
    # never exported. TF 2.15 exports it, as we do.
    "exporters": {"/to_8/best": [2, 4, 8]},
    # The op has a new version; clients feed by signature key, not by op name.
    "export_outputs": {
        "/signatures/raw:predict/inputs/x/0": "ParseExample/ParseExampleV2:0"
    },
    "errors": {
        # TensorFlow's own class, which words it anew.
        "/nothing/1": "Cannot create a ClassificationOutput with empty arguments. "
        "At least one of `scores` and `classes` must be defined.",
        # As TF 2.x, which also takes ragged tensors.
        "/receiver_value/1": "feature a must be a Tensor, SparseTensor, or "
        "RaggedTensor.",
        "/tensor_receiver_dict/1": "feature must be a Tensor, SparseTensor, or "
        "RaggedTensor.",
    },
}


def scenario_names(module: str) -> list[str]:
    """What a scenario module offers; none of them imports TensorFlow."""
    if str(LIFECYCLE) not in sys.path:
        sys.path.insert(0, str(LIFECYCLE))
    return list(importlib.import_module(module).SCENARIOS)


def check(name: str, observed: Any) -> None:
    recorded = json.loads((RECORDINGS / f"{name}.json").read_text())["observed"]
    allowed = KNOWN_DIFFERENCES.get(name, {})
    found = list(differences(recorded, json.loads(json.dumps(observed)), 2e-6, 2e-6))
    unknown = [d for d in found if allowed.get(d[0]) != d[2]]
    assert not unknown, "\n".join(
        f"{p}:\n  TF   {a}\n  ours {b}" for p, a, b in unknown
    )
    assert {d[0] for d in found} == set(allowed), "a known difference is gone"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for module in ("scenarios", "scenarios_state")
        for name in scenario_names(module)
    ],
)
def test_lives_as_in_tf_1_15(module: str, name: str) -> None:
    import tfmigrate.compat.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    check(name, importlib.import_module(module).run(tf, name)["observed"])


# Two logical CPUs have to be asked for before TensorFlow's first operation,
# hence a process of its own.
REPLICAS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tensorflow
cpu = tensorflow.config.list_physical_devices("CPU")[0]
tensorflow.config.set_logical_device_configuration(
    cpu, [tensorflow.config.LogicalDeviceConfiguration()] * 2)
import tfmigrate.compat.v1 as tf
tf.logging.set_verbosity(tf.logging.ERROR)
import scenarios_replicas
print(json.dumps({name: scenarios_replicas.run(tf, name)["observed"]
                  for name in scenarios_replicas.SCENARIOS}))
"""


def test_two_replicas_live_as_in_tf_1_15(python: Any) -> None:
    run = python("-c", REPLICAS, LIFECYCLE, timeout=500)
    assert run.returncode == 0, run.stderr[-3000:]
    observed = json.loads(run.stdout.splitlines()[-1])
    assert sorted(observed) == sorted(scenario_names("scenarios_replicas"))
    for name, value in observed.items():
        check(name, value)


def test_recordings_are_complete() -> None:
    names = {
        name
        for module in ("scenarios", "scenarios_state", "scenarios_replicas")
        for name in scenario_names(module)
    }
    assert {path.stem for path in RECORDINGS.glob("*.json")} == names
