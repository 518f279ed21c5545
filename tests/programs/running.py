"""Rewrites programs and records them in forks of one process, for campaigns and tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from runner import run_python
from tfmigrate.datasets import make_keras_home
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job, process_source

__all__ = ["Run", "nudged", "printed_by_both", "rewrite", "run_all"]


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
    runs: Sequence[Run], folder: Path, *, timeout: float = 300
) -> dict[str, dict[str, Any]]:
    """What each run did: its losses and figures, what it printed, or its error."""
    home = make_keras_home(folder / "home", sample=True, noise=True)
    found = {}
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
        argv = ["-m", module, *options, run.script]
        done = run_python(*argv, env=home, timeout=timeout)
        found[run.name] = {"printed": done.stdout + done.stderr}
        if (out / "recording.json").is_file():
            found[run.name] |= json.loads((out / "recording.json").read_text("utf-8"))
        else:
            found[run.name]["error"] = done.stderr
    return found


def printed_by_both(program: str, folder: Path, *, replicas: int) -> list[list[Any]]:
    """The lines of JSON that a program prints on compat, and its rewrite from there."""
    text, reason = rewrite(program)
    assert text is not None, reason
    runs = []
    for name, code, start in (("old", program, None), ("new", text, "old")):
        script = folder / f"{name}.py"
        script.write_text(code)
        legacy = start is None
        runs.append(Run(name, script, legacy, replicas=replicas, weights=start, seed=1))
    found = []
    for result in run_all(runs, folder).values():
        assert "error" not in result, result["error"]
        lines = result["printed"].splitlines()
        found.append([json.loads(line) for line in lines if line[:1] in ("[", "{")])
    return found


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
