"""What an assembled training.py does, checked in one TensorFlow process for each file."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest
from runner import run_python

HERE = Path(__file__).parent
CHECKS = [
    (path.name, node.name)
    for path in sorted((HERE / "checks").glob("*.py"))
    for node in ast.parse(path.read_text("utf-8")).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")
]


@cache
def failures(file: str) -> dict[str, str]:
    """The tracebacks of the checks of a file that fail."""
    done = run_python(HERE / "child.py", HERE / "checks" / file, timeout=900)
    output = done.stdout + done.stderr
    results = [line for line in output.splitlines() if line.startswith('{"failures"')]
    assert results, output[-4000:]
    found: dict[str, str] = json.loads(results[-1])["failures"]
    return found


@pytest.mark.parametrize(("file", "check"), CHECKS)
def test_check(file: str, check: str) -> None:
    assert check not in failures(file), failures(file)[check]
