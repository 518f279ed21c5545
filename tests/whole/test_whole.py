"""Nothing is worse after a rewrite than before: whole programs, by their outcomes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tfmigrate.datasets import make_keras_home

sys.path.insert(0, str(Path(__file__).resolve().parent))
from folders import programs_of, recorded
from harness import (
    Outcome,
    Program,
    difference,
    examine,
    figures,
)

HERE = Path(__file__).resolve().parent
# Of our own fixtures every one has run here; the default run has one of each outcome.
FAST = "digits_model_fn"
GOOD = ("same", "near", "runs")


def check(program: Program, folder: Path) -> Outcome:
    home = make_keras_home(folder / "home", sample=True, noise=True)
    outcome = examine(program, folder / "work", home)
    last = outcome.after.output[-3000:]
    assert outcome.verdict in (*GOOD, "as before"), f"{outcome.row()}\n{last}"
    return outcome


def test_a_kept_program_runs_by_plain_python_as_under_run(tmp_path: Path) -> None:
    package = HERE / "programs/kept_package"
    outcome = check(Program("kept", package, module="trainer.task"), tmp_path)
    assert (outcome.became, outcome.verdict) == ("kept", "same"), outcome.after.output
    assert outcome.compared >= 2
    changed = [Path(path).name for path in outcome.touched]
    # The call in the file it starts from, the note at the Estimator.
    assert changed == ["model.py", "task.py"]


def test_what_compat_cannot_run_is_as_it_was(tmp_path: Path) -> None:
    outcome = check(Program("gone", HERE / "programs/gone", "train.py"), tmp_path)
    assert (outcome.became, outcome.verdict) == ("untouched", "as before")
    assert outcome.touched == ()
    assert "kernels" in outcome.before.output


def test_a_program_that_moved_needs_nothing_of_ours(tmp_path: Path) -> None:
    (program,) = [each for each in recorded() if each.name == FAST]
    program = replace(program, args=(*program.args, "--model_dir", "runs"))
    home = make_keras_home(tmp_path / "home", sample=True, noise=True)
    outcome = examine(program, tmp_path / "work", home)
    assert outcome.became == "native"
    # Weights and batches are drawn anew in each run, and now and then one that begins
    # badly learns nothing in so few steps: equal figures are for the tests that start
    # from recorded weights. Here both end, and one of two draws learns.
    assert outcome.verdict in (*GOOD, "differs"), outcome.after.output
    before, after = (
        figures(run.output)["accuracy"] for run in (outcome.before, outcome.after)
    )
    assert max(before, after) > 0.6
    assert min(before, after) >= 0.2


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("program", recorded(), ids=lambda program: program.name)
def test_every_fixture(program: Program, tmp_path: Path) -> None:
    outcome = check(program, tmp_path)
    assert outcome.verdict in GOOD


def test_figures_are_read_as_people_print_them() -> None:
    text = (
        "step 10: loss = 0.5\nINFO:tensorflow:loss = 7.5, step = 100 (0.1 sec)\n"
        "Saving dict for global step 30: auc = 0.5, rate = 0.75\n{'accuracy': 0.25, 'global_step': 30}\n"
        "auc: 1e-3, examples/s: 12\nloss = 0.125\n{'mean': np.float32(2.5)}\n"
    )
    assert figures(text) == {
        "accuracy": 0.25,
        "auc": 1e-3,
        "loss": 0.125,
        "mean": 2.5,
        "rate": 0.75,
    }
    assert difference(float("nan"), float("nan")) == 0
    assert difference(1.0, float("nan")) == float("inf")


def test_a_folder_gives_the_programs_that_scan_counts() -> None:
    (program,) = programs_of(HERE / "programs/kept_package")
    assert (program.name, program.target) == ("trainer/task.py", ["-m", "trainer.task"])
    assert (program.cwd, program.timeout) == (".", 120)
    (script,) = programs_of(HERE / "programs/gone", 9)
    assert (script.target, script.cwd, script.timeout) == (["train.py"], ".", 9)
