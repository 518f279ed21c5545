"""Estimators that are handed about: by builders, in lists, several in one file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "handed").glob("*.py"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    """Every program and its rewrite, trained in one process."""
    folder = tmp_path_factory.mktemp("handed")
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(HERE / "handed")]
    subprocess.run([*command, "--out", str(folder)], check=False, capture_output=True)
    output = folder / "figures.json"
    runner = [sys.executable, str(HERE / "model_fn_runner.py")]
    arguments = [str(HERE / "handed"), str(folder), str(output)]
    result = subprocess.run(
        [*runner, *arguments], check=False, capture_output=True, text=True
    )
    assert output.exists(), result.stderr[-2000:]
    found: dict[str, dict[str, object]] = json.loads(output.read_text("utf-8"))
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_it_trains_and_evaluates_the_same(
    program: Path, trained: dict[str, dict[str, object]]
) -> None:
    figures = trained[program.stem]
    assert "error" not in figures, figures["error"]
    assert len(figures["legacy"]) == 8  # type: ignore[arg-type]
    assert figures["rewritten"] == pytest.approx(figures["legacy"], rel=1e-5, abs=1e-6)
    assert figures["result"] == pytest.approx(figures["expected"], rel=1e-5)


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_it_becomes_a_native_loop(program: Path) -> None:
    result = run(program.read_text("utf-8"))
    assert {f.tier for f in result.findings} == {Tier.NATIVE}
    assert "tf.estimator" not in result.module.code


def program(name: str) -> str:
    return (HERE / "handed" / f"{name}.py").read_text("utf-8")


def test_programs_that_are_alike_share_their_classes() -> None:
    text = run(program("one_model_fn_twice")).module.code
    assert text.count("class ") == 3
    assert 'slow = Trainer(params={"units": 6, "rate": 0.01}' in text
    assert 'fast = Trainer(params={"units": 4, "rate": 0.2}' in text


def test_hooks_that_a_setting_adds_are_asked_for_when_it_runs() -> None:
    text = run(program("chosen_hooks")).module.code
    assert "count_hook = CountHook(3) if COUNT else None\n" in text
    assert "if count_hook is not None:\n            count_hook.after_step(" in text
    assert (
        "last_step = step + 20\n    if STOP:\n        last_step = min(last_step, 8)\n"
        in text
    )
    assert "if step % (1 if LOG else 100) == 0:" in text
    text = run(program("passed_builder")).module.code
    assert "def run(directory):\n    estimator = build(directory" in text
    assert "hooks=[*([CountHook(3)] if COUNT else [])]" in text


def test_functions_around_an_estimator_are_written_out() -> None:
    text = run(program("specs_and_builders")).module.code
    for function in ("build_estimator", "get_train_spec", "get_eval_spec"):
        assert function not in text
    assert 'print("Model dir %s" % args.job_dir)' in text


TWICE = program("one_model_fn_twice")
HOOKS = program("chosen_hooks")
BUILT = program("specs_and_builders")


@pytest.mark.parametrize(
    ("code", "old", "new", "reason"),
    [
        # Both would find the other's checkpoints.
        (TWICE, '"/fast"', '"/slow"', "two Estimators share the directory"),
        (TWICE, "slow.train", "both([slow, fast])\nslow.train", "not understood"),
        (TWICE, "slow.train", "print(run_config)\nslow.train", "used elsewhere too"),
        (HOOKS, "    if STOP:", "    hooks.pop()\n    if STOP:", "used elsewhere too"),
        (HOOKS, "if COUNT:", "if COUNTED.append(0):", "starred list"),
        (HOOKS, "if STOP:\n        hooks.append(tf.train.StopAtStepHook(last_step=8))",
         "if STOP:\n        hooks.append(tf.train.NanTensorHook('loss'))",
         "a condition chooses"),
        (BUILT, '"/cpu:0"):\n', '"/cpu:0"):\n        tf.constant(1)\n', "inside `with"),
        (HOOKS, "hidden=10)", "units=10)", "defined somewhere else"),
        (BUILT, "def build_estimator", "@cached\ndef build_estimator", "parameter"),
        (BUILT, "def get_train_spec", "@cached\ndef get_train_spec", "not seen"),
        (BUILT, 'run_config.model_dir)', 'run_config)', "used elsewhere too"),
    ],
)  # fmt: skip
def test_what_is_not_seen_through_stays(
    code: str, old: str, new: str, reason: str
) -> None:
    assert old in code
    findings = run(code.replace(old, new, 1)).findings
    assert {finding.tier for finding in findings} == {Tier.COMPAT}
    assert reason in (findings[0].reason or ""), findings[0].reason


def test_what_none_says_in_an_evaluation_is_left_out_of_the_call() -> None:
    text = run(program("two_in_a_dict")).module.code
    assert "estimator.evaluate(test_input_fn)" in text


def test_a_lambda_that_went_into_the_loop_has_no_name_any_more() -> None:
    text = run(program("specs_and_builders")).module.code
    assert "train_input" not in text
    assert "def eval_input():" in text
