"""Rewrites programs and records them in forks of one process, for campaigns and tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tfmigrate.datasets import make_keras_home
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job, process_source

__all__ = ["Run", "nudged", "rewrite", "run_all"]

FORKED = Path(__file__).with_name("forked.py")


@dataclass(frozen=True)
class Run:
    """One run of a program, by ``legacy_program`` on compat or by ``tf2_program``.

    It starts from ``weights``: of a run before it, by its name, or of a file.
    """

    name: str
    script: Path
    legacy: bool
    replicas: int = 1
    steps: int | None = None
    weights: str | Path | None = None
    seed: int = 0


def rewrite(text: str) -> tuple[str | None, str]:
    """The native program with its training module inside, or None and why not."""
    result = process_source(Path("program.py"), text.encode(), Job(), ProjectFacts())
    outcomes = {f.program for f in result.findings if f.program is not None}
    if result.new is None or outcomes != {ProgramOutcome.NATIVE}:
        reasons = [f.reason for f in result.findings if f.reason] or [result.error]
        return None, str(reasons[0])
    return result.new.decode(), ""


def run_all(
    runs: Sequence[Run], folder: Path, *, timeout: float = 560
) -> dict[str, dict[str, Any]]:
    """What each run did: its losses and figures, what it printed, or its error."""
    jobs = []
    for run in runs:
        out = folder / run.name
        options = ["--no-shuffle", "--replicas", str(run.replicas)]
        options += ["--seed", str(run.seed), "--out", str(out), "--no-predictions"]
        if run.steps is not None:
            options += ["--steps", str(run.steps)]
        if run.weights is not None:
            start = run.weights
            if isinstance(start, str):
                start = folder / start / "initial_weights.npz"
            options += ["--initial-weights", str(start)]
        kind = "tf2_program"
        if run.legacy:
            kind = "legacy_program"
            options += ["--compat", "--model-dir", f"{out}.files"]
            if run.weights is None:
                options += ["--generate-weights", str(run.seed)]
        module = f"tfmigrate.verify.instruments.{kind}"
        jobs.append((f"{out}.log", module, [*options, str(run.script)]))
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), "utf-8")
    home = make_keras_home(folder / "home", sample=True, noise=True)
    subprocess.run(
        [sys.executable, str(FORKED), str(listed)],
        check=False,
        timeout=timeout,
        env={**os.environ, **home, "CUDA_VISIBLE_DEVICES": "-1"},
    )
    return {run.name: _found(folder / run.name) for run in runs}


def _found(out: Path) -> dict[str, Any]:
    printed = Path(f"{out}.log").read_text("utf-8", "replace")
    recording = out / "recording.json"
    if not recording.is_file():
        return {"error": printed, "printed": printed}
    found: dict[str, Any] = json.loads(recording.read_text("utf-8"))
    return {"printed": printed, **found}


def nudged(weights: Path, size: float) -> Path:
    """The weights changed at random by up to ``size`` of themselves, in a file."""
    draw = np.random.RandomState(11)
    changed: Mapping[str, Any] = {
        name: (value * (1 + size * draw.uniform(-1, 1, value.shape))).astype("f")
        for name, value in np.load(weights).items()
    }
    path = weights.with_name("nudged.npz")
    np.savez(path, **changed)
    return path
