"""Small programs, each with one matter of a loop, compared with recordings of TF 1.15.5.

Traps are around the model function, calls are what a program says around that, and
given hooks are TensorFlow's own, each with one replica and with two.

The programs and recordings are in fixtures/oracle/loop.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_recordings import ORACLE, check, observe

RECORDINGS = ORACLE / "loop" / "tf1.15"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.json"))
sys.path.insert(0, str(ORACLE / "loop"))
MODULES = {
    name: module
    for module in ("traps", "calls", "given_hooks")
    for name in importlib.import_module(module).SCENARIOS
}

# Program -> place in it -> what ours says instead, and why.
KNOWN_DIFFERENCES: dict[str, dict[str, Any]] = {
    # TensorFlow foresees the next step by adding one; where a step counts as two, its
    # summaries come a step later.
    "counts_by_two": {
        "/events/11/0": 14,
        "/events/11/1": "loss",
        "/events/11/2": 0.13976,
        "/events/12/1": "session_log",
        "/events/12/2": 3,
    },
}


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("traps")
    places = [f"{MODULES[name]}.{name}" for name in NAMES]
    given = [place for place in places if place.startswith("given_hooks")]
    others = [place for place in places if place not in given]
    return {
        **observe(folder / "observed.json", others),
        **observe(folder / "given.json", given, "--replicas", "2"),
    }


@pytest.mark.parametrize("name", NAMES)
def test_trains_as_in_tf_1_15(name: str, observed: dict[str, Any]) -> None:
    check(RECORDINGS / f"{name}.json", observed[name], KNOWN_DIFFERENCES.get(name))


def test_every_program_is_recorded() -> None:
    assert sorted(MODULES) == NAMES
