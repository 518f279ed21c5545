"""One program said in fifty ways, and shapes of public programs: figures stay.

A program that becomes native is compared with itself on compat; one that is kept is on
compat, and says why.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.report.model import Report
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

from .shapes import LATER_PROGRAMS, PROGRAMS
from .variants import BASE, VARIANTS, program

HERE = Path(__file__).resolve().parent
TEXTS = {name: program(name) for name in VARIANTS} | PROGRAMS | LATER_PROGRAMS
# Programs that are native today: none of them may be less.
NATIVE = frozenset((HERE / "native.txt").read_text("utf-8").split())
# Those that differ most in what there is to understand; the rest is slow.
FEW = NATIVE & {
    "canned_by_kind",
    "columns_outside",
    "config_from_options",
    "hook_fetches_loss",
    "input_fn_with_iterator",
    "learn_wide_deep",
    "learn_monitors",
    "own_variables",
}
# Both sides run the same kernels on the same values; sums of parts may be ordered
# differently, which a few steps of training do not carry beyond the fifth digit.
TOLERANCE = 2e-5


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("legacy")
    for name, text in TEXTS.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def report(legacy: Path) -> Report:
    return run_job(sorted(legacy.glob("*.py")), Job(), jobs=2)


@pytest.fixture(scope="module")
def plain(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    for result in report.changed:
        assert result.new is not None
        (folder / result.path.name).write_bytes(result.new)
    return folder


def test_there_are_fifty() -> None:
    assert len(VARIANTS) >= 50
    compile(BASE, "base.py", "exec")


def test_each_is_native_or_says_why_not(report: Report) -> None:
    assert not report.failed
    found = {path.stem: program for path, program in report.programs}
    assert found.keys() == TEXTS.keys()
    for program_ in found.values():
        native = program_.outcome is ProgramOutcome.NATIVE
        assert native or program_.reason
    native = {n for n, one in found.items() if one.outcome is ProgramOutcome.NATIVE}
    assert not NATIVE - native, {n: found[n].reason for n in NATIVE - native}


def _run(kind: str, folder: Path, output: Path, names: list[str]) -> dict[str, dict]:  # type: ignore[type-arg]
    done = subprocess.run(
        [sys.executable, HERE / "child.py", kind, folder, output, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict] = json.loads(output.read_text("utf-8"))  # type: ignore[type-arg]
    return found


def _compare(legacy: Path, plain: Path, names: list[str], folder: Path) -> None:
    old = [name for name in names if name not in LATER_PROGRAMS]
    later = [name for name in names if name in LATER_PROGRAMS]
    before = _run("legacy", legacy, folder / "before.json", old)
    if later:
        before |= _run("legacy2", legacy, folder / "later.json", later)
    after = _run("plain", plain, folder / "after.json", names)
    for name in names:
        assert "error" not in before[name], (name, before[name])
        assert "error" not in after[name], (name, after[name])
        assert after[name]["result"] == pytest.approx(
            before[name]["result"], rel=TOLERANCE, abs=1e-6
        ), name


def test_figures_of_a_few(legacy: Path, plain: Path, tmp_path: Path) -> None:
    assert FEW
    _compare(legacy, plain, sorted(FEW), tmp_path)


@pytest.mark.slow
def test_figures_of_all(
    legacy: Path, plain: Path, report: Report, tmp_path: Path
) -> None:
    native = [
        path.stem
        for path, program in report.programs
        if program.outcome is ProgramOutcome.NATIVE
    ]
    _compare(legacy, plain, [n for n in native if n not in FEW], tmp_path)
