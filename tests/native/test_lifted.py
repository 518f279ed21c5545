"""Programs in shapes that only an evaluation understands, against TF 1.15.5.

They are rewritten and run by plain Python: without tfmigrate those that are native. Their
variables begin with values that are the same everywhere.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner import run_python
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

HERE = Path(__file__).parent
PROGRAMS = HERE.parent / "rewrite" / "layers" / "programs"
NAMES = ("chosen", "columns", "families", "held", "lazy", "mixed", "shaped", "zoo")
# What the next normalization takes away again: rounding alone moves it, and Adam makes
# whole steps of that.
NO_GRADIENT = ("batch_normalization/beta", "batch_normalization_1/moving_mean")
# An evaluation sees it: TF 1.15.5 itself gives losses 7e-6 apart on two processors.
SEEN_BY_EVALUATION = 5e-5
RECORDED = HERE.parents[1] / "fixtures" / "oracle" / "lifted" / "tf115.json"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """What every program leaves after eight steps."""
    folder = tmp_path_factory.mktemp("lifted")
    for path in PROGRAMS.glob("*.py"):
        text = path.read_text("utf-8").replace("STEPS", "8").replace("STRATEGY", "None")
        text = text.replace("DIRECTORY", repr(str(folder / path.stem)))
        (folder / path.name).write_text(text, "utf-8")
    report = run_job(sorted(folder.glob("*.py")), Job())
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)
    native = {
        path.stem
        for path, program in report.programs
        if program.outcome is ProgramOutcome.NATIVE
    }
    found: dict[str, dict[str, dict[str, float]]] = {}
    for kind, names in (("plain", native), ("legacy", {*NAMES} - native)):
        output = folder / f"{kind}.json"
        chosen = sorted(names.intersection(NAMES))
        if not chosen:
            continue
        done = run_python(HERE / "child.py", kind, folder, output, *chosen)
        assert output.exists(), done.stderr[-3000:]
        found |= json.loads(output.read_text("utf-8"))
    wrong = {name: one["error"] for name, one in found.items() if "error" in one}
    assert not wrong, wrong
    return {name: one["result"] for name, one in found.items()}


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_those_of_tensorflow_1(
    results: dict[str, dict[str, float]], name: str
) -> None:
    """Loss, variables and slots, from the same values."""
    recorded = json.loads(RECORDED.read_text("utf-8"))[name]
    found = dict(results[name])
    assert set(found) == set(recorded)
    if any(one in recorded for one in NO_GRADIENT):
        loss = recorded.pop("loss")
        assert found.pop("loss") == pytest.approx(loss, rel=SEEN_BY_EVALUATION)
    for one in NO_GRADIENT:
        found.pop(one, None)
        recorded.pop(one, None)
    assert found == pytest.approx(recorded, rel=1e-5, abs=2e-6)
