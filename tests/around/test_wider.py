"""Shapes of public programs: on the loop module, with the figures that they had."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.report.model import Report
from tfmigrate.rewriting.pipeline import Job
from tfmigrate.rewriting.run import run_job

from .wider import LATER_PROGRAMS, PROGRAMS

CHILD = Path(__file__).with_name("child.py")
ALL = {**PROGRAMS, **LATER_PROGRAMS}
# A process in which a graph is built by hand stays so.
IN_ORDER = sorted(ALL, key=lambda name: (name == "sessions_by_hand", name))
# The same kernels on the same values, summed in another order at the most.
TOLERANCE = 2e-5


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("legacy")
    for name, text in ALL.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def report(legacy: Path) -> Report:
    return run_job(sorted(legacy.glob("*.py")), Job())


def _ran(
    kind: str, folder: Path, names: Iterable[str], results: Path
) -> dict[str, dict[str, Any]]:
    output = results / f"{kind}.json"
    done = subprocess.run(
        [sys.executable, CHILD, kind, folder, output, *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(output.read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", ALL)
def test_each_leaves_its_estimator(name: str, report: Report) -> None:
    (result,) = (r for r in report.results if r.path.stem == name)
    assert result.program is not None, result
    assert result.program.tier.value in ("T1", "T2"), result.findings
    assert result.new is not None
    # What stands around the layers of a class: its first lines, the call's, blank
    # ones, imports of the modules that they are from.
    classes = re.findall(rb"\(training_loop\.(?:Keras|Scoped)", result.new)
    around = 12 * len(classes)
    assert result.new.count(b"\n") <= 1.3 * result.old.count(b"\n") + around


def test_figures_stay(legacy: Path, report: Report, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for result in report.changed:
        assert result.new is not None
        (plain / result.path.name).write_bytes(result.new)
    before = {
        **_ran("legacy", legacy, PROGRAMS, tmp_path),
        **_ran("legacy2", legacy, LATER_PROGRAMS, tmp_path),
    }
    after = _ran("plain", plain, IN_ORDER, tmp_path)
    failed = [
        (name, kind, ran[name]["error"])
        for kind, ran in (("before", before), ("after", after))
        for name in ALL
        if "error" in ran[name]
    ]
    assert not failed
    for name in ALL:
        assert after[name]["result"] == pytest.approx(
            before[name]["result"], rel=TOLERANCE, abs=1e-6
        ), name
