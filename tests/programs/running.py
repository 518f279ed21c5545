"""Rewrites programs and runs them in batches, for the tests beside this file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import libcst as cst
from tfmigrate.datasets import make_keras_home
from tfmigrate.options import RewriteOptions
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.selection import Selection
from tfmigrate.report.findings import Tier
from tfmigrate.rewriting.pipeline import Job, process_source

__all__ = ["relative_difference", "rewrite", "run_batch"]

BATCH = Path(__file__).with_name("batch.py")


def rewrite(
    text: str, options: RewriteOptions, *, module: bool = False
) -> tuple[str | None, str]:
    """The program as a native loop, or None and the reason why it has none.

    One on the loop module, which then stands in its text, has to be asked for.
    """
    job = Job(options, Selection(select=(), ignore=()))
    result = process_source(Path("program.py"), text.encode(), job, ProjectFacts())
    tiers = {f.tier for f in result.findings if f.tier is not None}
    if result.new is None or tiers != {Tier.NATIVE}:
        reasons = [f.reason for f in result.findings if f.reason] or [result.error]
        return None, str(reasons[0])
    if not module and any(finding.rule == "TFM106" for finding in result.findings):
        return None, "it is on the loop module"
    new = result.new.decode()
    cst.parse_module(new)
    return new, ""


def run_batch(
    cases: Sequence[Mapping[str, Any]], folder: Path, *, timeout: float = 560
) -> dict[str, dict[str, Any]]:
    """What each case did; see ``batch.py``."""
    (folder / "cases.json").write_text(json.dumps(cases))
    home = make_keras_home(folder / "home", sample=True, noise=True)
    with (folder / "log").open("w") as log:
        subprocess.run(
            [sys.executable, BATCH, folder / "cases.json", folder / "results.json"],
            env={**os.environ, **home, "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    results: dict[str, dict[str, Any]] = json.loads(
        (folder / "results.json").read_text()
    )
    missing = {case["name"] for case in cases} - set(results)
    assert not missing, (folder / "log").read_text()[-3000:]
    return results


def relative_difference(left: Sequence[float], right: Sequence[float]) -> float:
    """The largest relative difference of two loss curves of equal length."""
    assert len(left) == len(right) > 0, (len(left), len(right))
    return max(abs(a - b) / max(abs(a), 1e-6) for a, b in zip(left, right, strict=True))
