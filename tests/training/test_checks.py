"""What an assembled training.py does, checked in one TensorFlow process for each file."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDERS = (str(HERE.parents[1]), os.environ["PYTHONPATH"])
CHECKS = [
    (path.name, node.name)
    for path in sorted((HERE / "checks").glob("*.py"))
    for node in ast.parse(path.read_text("utf-8")).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")
]


@cache
def children() -> dict[str, subprocess.Popen[str]]:
    """One process for each file of checks, all at once."""
    return {
        file: subprocess.Popen(
            [sys.executable, HERE / "child.py", HERE / "checks" / file],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(FOLDERS)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for file in dict.fromkeys(file for file, _ in CHECKS)
    }


@cache
def failures(file: str) -> dict[str, str]:
    """The tracebacks of the checks of a file that fail."""
    output, _ = children()[file].communicate()
    results = [line for line in output.splitlines() if line.startswith('{"failures"')]
    assert results, output[-4000:]
    found: dict[str, str] = json.loads(results[-1])["failures"]
    return found


@pytest.mark.parametrize(("file", "check"), CHECKS)
def test_check(file: str, check: str) -> None:
    assert check not in failures(file), failures(file)[check]
