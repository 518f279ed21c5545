"""Rewrites programs and records both sides in forks, for campaigns and tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from runner import Run, run
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job, process_source

__all__ = ["nudged", "printed_by_both", "recorded", "rewrite", "run"]


def rewrite(text: str) -> tuple[str | None, str]:
    """The native program with its training module inside, or None and why not."""
    result = process_source(Path("program.py"), text.encode(), Job(), ProjectFacts())
    outcomes = {f.program for f in result.findings if f.program is not None}
    if result.new is None or outcomes != {ProgramOutcome.NATIVE}:
        reasons = [f.reason for f in result.findings if f.reason] or [result.error]
        return None, str(reasons[0])
    return result.new.decode(), ""


def recorded(run: Run) -> dict[str, Any]:
    """What a run did: its losses and figures, what it printed, or its error."""
    found = {"printed": run.stdout + run.stderr}
    path = run.folder / "recording.json"
    if run.returncode or not path.is_file():
        return found | {"error": run.stderr}
    return found | json.loads(path.read_text("utf-8"))


def printed_by_both(program: str, folder: Path, *, replicas: int) -> list[list[Any]]:
    """The lines of JSON that a program prints on compat, and its rewrite from there."""
    text, reason = rewrite(program)
    assert text is not None, reason
    old, new = folder / "old.py", folder / "new.py"
    old.write_text(program, "utf-8")
    new.write_text(text, "utf-8")
    before = run(old, replicas=replicas, seed=1)
    after = run(new, replicas=replicas, seed=1, start=before)
    found = []
    for each in (before, after):
        assert each.returncode == 0, each.stderr
        lines = each.stdout.splitlines()
        found.append([json.loads(line) for line in lines if line[:1] in ("[", "{")])
    return found


def nudged(weights: Path, size: float) -> Path:
    """The weights changed at random by up to ``size`` of themselves, in a file."""
    draw = np.random.RandomState(11)
    changed = {
        name: (value * (1 + size * draw.uniform(-1, 1, value.shape))).astype("f")
        for name, value in np.load(weights).items()
    }
    path = weights.with_name("nudged.npz")
    np.savez(path, **changed)
    return path
