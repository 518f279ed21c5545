"""Exports and warm starts of canned models, against a recording of TensorFlow 1.15.5.

Signatures have the methods, inputs and outputs that serving asks for by name, and a
model that starts warm begins with the recorded variables of the one before.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tfmigrate.options import RewriteOptions
from tfmigrate.rewriting.pipeline import Job

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parents[1] / "fixtures" / "oracle" / "canned"
sys.path.insert(0, str(HERE.parent / "around"))

from here import run_here  # noqa: E402


def test_is_served_and_started_as_recorded(tmp_path: Path) -> None:
    legacy = tmp_path / "legacy"
    legacy.mkdir()
    shutil.copy(RECORDED / "served_program.py", legacy)
    report = run_here(list(legacy.glob("*.py")), Job(options=RewriteOptions()))
    (tier,) = (one.program.tier.value for one in report.results if one.program)
    assert tier == "T1"
    for result in report.changed:
        assert result.new is not None
        (tmp_path / result.path.name).write_bytes(result.new)
    found = tmp_path / "found.json"
    # Where tfmigrate cannot be imported.
    (tmp_path / "tfmigrate.py").write_text("raise ImportError('not here')\n")
    subprocess.run(
        [sys.executable, "served_program.py"],
        cwd=tmp_path,
        env={**os.environ, "RESULT": str(found), "CUDA_VISIBLE_DEVICES": ""},
        check=True,
        capture_output=True,
        timeout=400,
    )
    assert json.loads(found.read_text()) == json.loads(
        (RECORDED / "served.json").read_text()
    )
