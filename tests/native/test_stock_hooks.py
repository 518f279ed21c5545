"""TensorFlow's own hooks and early stopping, in programs that are rewritten.

They run in one process; what they print is what real TensorFlow 1.15.5 printed
(fixtures/oracle/stock_hooks).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = [
    HERE / "programs" / f"{name}.py"
    for name in ("early", "listens", "not_a_number", "watched")
]
KEPT = ("listens", "not_a_number", "watched")
RECORDINGS = HERE.parents[1] / "fixtures" / "oracle" / "stock_hooks" / "tf1.15"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each rewritten program prints."""
    folder = tmp_path_factory.mktemp("hooks")
    rewrite = ["rewrite", *map(str, PROGRAMS), "--out", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "tfmigrate", *rewrite], check=False, capture_output=True
    )
    programs = [folder / path.name for path in PROGRAMS]
    # What is kept needs a process of its own, with the compat layer.
    programs = [one for one in programs if "compat.install()" not in one.read_text()]
    result = subprocess.run(
        [
            *(sys.executable, str(HERE / "lifecycle_child.py")),
            *(str(path) for path in programs),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
    )
    lines = [x for x in result.stdout.splitlines() if x.startswith("RESULTS")]
    assert lines, result.stdout + result.stderr
    found = json.loads(lines[0][len("RESULTS") :])
    return {name.removesuffix(".py"): text for name, text in found.items()}


@pytest.mark.parametrize("name", [path.stem for path in PROGRAMS])
def test_hooks_do_what_they_did(name: str, printed: dict[str, str]) -> None:
    if name not in printed:
        assert name in KEPT
        return
    recorded = json.loads((RECORDINGS / f"{name}.json").read_text("utf-8"))
    assert json.loads(printed[name].splitlines()[-1]) == recorded, printed[name]
