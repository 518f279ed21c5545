"""What programs do around their model comes out the same after a rewrite.

Each program prints figures as JSON. It runs unedited under compat, and rewritten by
plain Python; all programs of a side share a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = (
    "branching_calls.py",
    "keras_calls.py",
    "model_fn_calls.py",
    "travelling.py",
)
CHILD = str(HERE / "lifecycle_child.py")


def run(command: list[str]) -> dict[str, str]:
    """What each program printed, run by the child script."""
    result = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
    )
    for line in result.stdout.splitlines():
        if line.startswith("RESULTS"):
            found = json.loads(line[len("RESULTS") :])
            assert isinstance(found, dict)
            return found
    raise AssertionError(result.stdout + result.stderr)


def figures(printed: str) -> list[Any]:
    """The lines that are JSON."""
    found = []
    for line in printed.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs rewritten by the command line."""
    target = tmp_path_factory.mktemp("lifecycle")
    programs = [str(HERE / "programs" / name) for name in PROGRAMS]
    command = ["-m", "tfmigrate", "rewrite", *programs]
    subprocess.run(
        [sys.executable, *command, "--out", str(target)],
        capture_output=True,
        check=False,
    )
    return target


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    """What the legacy programs print."""
    programs = [str(HERE / "programs" / name) for name in PROGRAMS]
    return run(["-m", "tfmigrate", "run", CHILD, *programs])


@pytest.fixture(scope="module")
def after(rewritten: Path) -> dict[str, str]:
    """What the rewritten programs print."""
    return run([CHILD, *(str(rewritten / name) for name in PROGRAMS)])


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewritten_programs_print_the_same(
    program: str, before: dict[str, str], after: dict[str, str]
) -> None:
    old, new = figures(before[program]), figures(after[program])
    assert old, before[program]
    assert len(old) == len(new), after[program]
    for one, other in zip(old, new, strict=True):
        assert _close(one, other), f"{one}\n{other}\n{after[program]}"


def _close(one: Any, other: Any) -> bool:
    """Equal but for rounding."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_close(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_close, one, other))
    if isinstance(one, float):
        return bool(other == pytest.approx(one, rel=1e-5, abs=1e-6))
    return bool(one == other)
