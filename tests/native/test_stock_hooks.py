"""TensorFlow's own hooks and early stopping, in a program that is rewritten.

What it prints is what real TensorFlow 1.15.5 printed (fixtures/oracle/stock_hooks).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "programs" / "early.py"
RECORDINGS = HERE.parents[1] / "fixtures" / "oracle" / "stock_hooks" / "tf1.15"


def test_hooks_do_what_they_did(tmp_path: Path) -> None:
    rewrite = ["rewrite", str(PROGRAM), "--out", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-m", "tfmigrate", *rewrite], check=False, capture_output=True
    )
    program = tmp_path / PROGRAM.name
    assert "tfmigrate" not in program.read_text("utf-8")
    result = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
    )
    assert result.returncode == 0, result.stderr
    recorded = json.loads((RECORDINGS / "early.json").read_text("utf-8"))
    assert json.loads(result.stdout.splitlines()[-1]) == recorded, result.stdout
