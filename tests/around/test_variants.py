"""One program said in fifty ways: none below T2, and figures stay what they were."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.report.model import FileStatus, Report
from tfmigrate.rewriting.pipeline import Job
from tfmigrate.rewriting.run import run_job

from .variants import BASE, VARIANTS, program

CHILD = Path(__file__).with_name("child.py")
# Those that differ most in what the module has to do; the rest is slow.
FEW = (
    "bound_twice",
    "columns_outside",
    "config_from_options",
    "hook_fetches_loss",
    "hooks_of_evaluation",
    "input_fn_with_iterator",
    "keras_recurrent",
    "own_variables",
    "table_in_model_fn",
)
# Both sides run the same kernels on the same values; sums of parts may be ordered
# differently, which a few steps of training do not carry beyond the fifth digit.
TOLERANCE = 2e-5


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("legacy")
    for name in VARIANTS:
        (folder / f"{name}.py").write_text(program(name), "utf-8")
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


@pytest.mark.parametrize("name", VARIANTS)
def test_none_is_below_t2(name: str, report: Report) -> None:
    (result,) = (r for r in report.results if r.path.stem == name)
    assert result.status is FileStatus.CHANGED, result.error
    assert result.program is not None
    assert result.program.tier.value in ("T1", "T2")


def test_the_programs_hardly_grow(report: Report) -> None:
    for result in report.changed:
        if result.needs:
            assert result.new is not None
            # A class has ten lines of its own around its layers.
            classes = result.new.count(b"(training_loop.Scoped")
            added = result.new.count(b"\n") - 10 * classes
            assert added <= 1.3 * result.old.count(b"\n")


def _run(kind: str, folder: Path, output: Path, names: list[str]) -> dict[str, dict]:  # type: ignore[type-arg]
    done = subprocess.run(
        [sys.executable, CHILD, kind, folder, output, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict] = json.loads(output.read_text("utf-8"))  # type: ignore[type-arg]
    return found


def _compare(legacy: Path, plain: Path, names: list[str], folder: Path) -> None:
    before = _run("legacy", legacy, folder / "before.json", names)
    after = _run("plain", plain, folder / "after.json", names)
    for name in names:
        assert "error" not in before[name], (name, before[name])
        assert "error" not in after[name], (name, after[name])
        assert after[name]["result"] == pytest.approx(
            before[name]["result"], rel=TOLERANCE, abs=1e-6
        ), name


def test_figures_of_a_few(legacy: Path, plain: Path, tmp_path: Path) -> None:
    _compare(legacy, plain, list(FEW), tmp_path)


@pytest.mark.slow
def test_figures_of_all(legacy: Path, plain: Path, tmp_path: Path) -> None:
    _compare(legacy, plain, [n for n in VARIANTS if n not in FEW], tmp_path)
