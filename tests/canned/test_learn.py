"""Canned models of tf.contrib.learn: on compat, and as Keras models of the program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.rewriting.pipeline import Job

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parents[1] / "fixtures" / "oracle" / "canned" / "learn"
sys.path.insert(0, str(HERE.parent / "around"))

from here import run_here  # noqa: E402

TOLERANCE = {"rtol": 2e-6, "atol": 1e-6}


def rewritten(folder: Path) -> Path:
    """The program on the loop module: T1, and nothing of compat is left."""
    path = folder / "program.py"
    path.write_text((RECORDED / "program.py").read_text())
    report = run_here([path], Job(options=RewriteOptions(style="module")))
    tiers = {r.path.name: r.program.tier.value for r in report.results if r.program}
    assert tiers["program.py"] == "T1"
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)
    assert "(ScopedModel)" in (folder / "tf_contrib_learn.py").read_text()
    return path


def on_compat(folder: Path) -> Path:
    """The program as it was, behind the compat layer."""
    text = (RECORDED / "program.py").read_text()
    path = folder / "program.py"
    path.write_text(f"import tfmigrate.compat\ntfmigrate.compat.install()\n{text}")
    return path


@pytest.mark.parametrize("program", [rewritten, on_compat])
def test_trains_as_recorded(program: Callable[[Path], Path], tmp_path: Path) -> None:
    """From TensorFlow 1.15.5's checkpoint to its figures, variables and summaries."""
    path = program(tmp_path)
    seen = tmp_path / "models"
    done = subprocess.run(
        [sys.executable, str(HERE / "learn_child.py"), str(path), str(seen)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    ours, theirs = np.load(seen / "seen.npz"), np.load(RECORDED / "recorded.npz")
    told, wanted = (json.loads(str(one["told"])) for one in (ours, theirs))
    assert told.keys() == wanted.keys()
    for name, one in wanted.items():
        assert told[name]["tags"] == one["tags"]
        assert told[name]["signatures"] == one["signatures"], name
        for key, value in one["evaluation"].items():
            got = told[name]["evaluation"][key]
            np.testing.assert_allclose(got, value, **TOLERANCE, err_msg=f"{name} {key}")
        np.testing.assert_allclose(
            told[name]["predictions"], one["predictions"], **TOLERANCE, err_msg=name
        )
    variables = {key for key in theirs.files if ":final:" in key}
    assert {key for key in ours.files if ":final:" in key} == variables
    for key in variables:
        np.testing.assert_allclose(
            ours[key], theirs[key], rtol=1e-4, atol=1e-5, err_msg=key
        )
