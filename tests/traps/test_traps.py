"""Programs with one semantic trap each, against what real TF 1.15.5 made of them.

Each runs unedited under ``tfmigrate run``, kept under plain Python, and rewritten
under plain Python. What differs from the recording is in the report.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from comparing import differences
from runner import run_python, tfmigrate

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "traps"
RECORDED: dict[str, Any] = json.loads((FOLDER / "tf115.json").read_text("utf-8"))
NAMES = sorted(RECORDED)
# Repeats with other threads stay within 3e-7, and other builds of TensorFlow within
# 1e-5 of a loss for so few steps of so small models.
RELATIVE, ABSOLUTE = 2e-5, 2e-6

# Where a native program does otherwise than TF 1.15.5, and tells so.
REPORTED = {
    "batch_norm_frozen",
    "best_exporter",
    "histograms_of_cells",
    "regularized_replicas",
}
# Sessions read the step beside its update, in no order (docs/semantics.md): on a busy
# machine the hook that stops may see it counted already, and stop an update earlier.
OPEN = {
    "step_by_two": {
        "figures": {"result": {"global_step": 6, "loss": 1.0893554}},
        "files": {"checkpoints": [0, 6], "events": [".", "eval"]},
    }
}
# TF 1.15 let the first evaluation compete with itself; see the class.
OF_COMPAT = {"best_exporter"}
# One of each kind, and what each form of a program once had wrong; the others are for
# the long run. A program that is kept is the same whether it moved or not, so the
# traps on which rewriting keeps a program are seen as rewritten.
QUICK = {
    "unedited": """
        batch_norm_of_volumes batch_per_replica chief_alone
        first_checkpoint_is_evaluated hook_sees_the_step input_calls latest_checkpoint
        layers_applied learn_fit_arrays private_pieces sum_on_replicas
        two_updates_a_step
    """,
    "kept": "second_optimizer_of_keras warm_start_from_own",
    "rewritten": """
        activity_regularizer adam average_for_evaluation averages_of_tensors
        batch_norm_of_volumes best_exporter cell_given_itself centres_in_a_summary
        chief_alone evaluate_first first_checkpoint_is_evaluated histograms_of_cells
        hook_feeds_the_rate hook_sees_the_step hook_sees_the_step_of_replicas
        initialized_value input_of_labels_in_features input_through_queues
        keras_metric_names keras_weights_stay latest_checkpoint layers_by_helpers
        layers_in_methods learn_estimator_of_layers learn_fit_arrays learn_models
        limits_of_none metric_pair numpy_random_input ops_of_replicas params_of_dropout
        predict_from_iterator predict_what_was_asked private_pieces rate_of_own_counter
        regularized_shared saving_listener scope_given_a_name second_optimizer
        second_optimizer_on_replicas sizes_of_text step_by_two step_of_two_optimizers
        sum_on_replicas summaries_of_host_call tape_in_model_fn updates_if_any
        updates_of_layers
    """,
}


def traps(form: str) -> pytest.MarkDecorator:
    """All traps, those marked slow that the default run leaves out for this form."""
    quick = QUICK[form].split()
    params = [
        pytest.param(name, marks=() if name in quick else pytest.mark.slow)
        for name in NAMES
    ]
    return pytest.mark.parametrize("trap", params)


def answers(programs: list[Path], *command: str) -> dict[str, Any]:
    """What the programs answer, run by one process of the given command."""
    done = run_python(*command, FOLDER / "run_traps.py", *programs, timeout=1100)
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            answer = json.loads(line)
            found[answer["name"]] = answer
    assert found, done.stderr
    return found


def chosen(request: pytest.FixtureRequest, form: str) -> list[str]:
    """The traps that this run of the tests asks for, of programs in this form."""
    asked = {
        item.callspec.params["trap"]  # type: ignore[attr-defined]
        for item in request.session.items
        if form in getattr(item, "fixturenames", ())
        and "trap" in getattr(getattr(item, "callspec", None), "params", ())
    }
    return sorted(asked)


def same(expected: Any, found: Any) -> bool:
    return not [*differences(expected, found, RELATIVE, ABSOLUTE)]


def recorded(trap: str, answer: dict[str, Any]) -> dict[str, Any]:
    """What TF 1.15.5 gave; of two outcomes that it leaves open, the one met here."""
    other: dict[str, Any] = OPEN.get(trap, RECORDED[trap])
    met = same(other["figures"], answer["figures"])
    return other if met else RECORDED[trap]


def check(trap: str, answer: dict[str, Any], *, files: bool) -> None:
    """The program's figures, and the files it left, are those of TF 1.15.5."""
    assert "error" not in answer, answer.get("error")
    expected = recorded(trap, answer)
    assert same(expected["figures"], answer["figures"]), (
        expected["figures"],
        answer["figures"],
    )
    if files:
        assert answer["files"] == expected["files"]


@pytest.fixture(scope="session")
def unedited(request: pytest.FixtureRequest) -> dict[str, Any]:
    programs = [
        FOLDER / "programs" / f"{name}.py" for name in chosen(request, "unedited")
    ]
    return answers(programs, "-m", "tfmigrate", "run", "--tf", "1")


@pytest.fixture(scope="session")
def kept(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Every program as one that keeps its Estimator."""
    folder = tmp_path_factory.mktemp("kept")
    programs = []
    for name in chosen(request, "kept"):
        text = (FOLDER / "programs" / f"{name}.py").read_text("utf-8")
        line = "import tfmigrate.compat\n\ntfmigrate.compat.install()\n"
        programs.append(folder / f"{name}.py")
        programs[-1].write_text(line + text, "utf-8")
    return answers(programs)


@pytest.fixture(scope="session")
def report(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """The rewritten programs' folder, and the findings of each."""
    folder = tmp_path_factory.mktemp("rewritten")
    wanted = [
        str(FOLDER / "programs" / f"{name}.py") for name in chosen(request, "rewritten")
    ]
    done = tfmigrate("rewrite", *wanted, "--out", folder, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    files = json.loads(done.stdout)["files"]
    return {"folder": folder, "files": {Path(one["path"]).stem: one for one in files}}


@pytest.fixture(scope="session")
def rewritten(report: dict[str, Any]) -> dict[str, Any]:
    programs = (path for path in report["folder"].rglob("*.py") if path.stem in NAMES)
    return answers(sorted(programs))


@traps("unedited")
def test_unedited_under_run(trap: str, unedited: dict[str, Any]) -> None:
    if trap not in OF_COMPAT:
        check(trap, unedited[trap], files=True)


@traps("kept")
def test_with_its_estimator_kept(trap: str, kept: dict[str, Any]) -> None:
    if trap not in OF_COMPAT:
        check(trap, kept[trap], files=True)


@traps("rewritten")
def test_rewritten(trap: str, rewritten: dict[str, Any], report: Any) -> None:
    file = report["files"][trap]
    native = file["program"]["outcome"] == "native"
    if trap in REPORTED and native:
        assert "TFM130" in {finding["rule"] for finding in file["findings"]}
        assert "error" not in rewritten[trap]
    elif trap not in OF_COMPAT or native:
        check(trap, rewritten[trap], files=not native)
        found = rewritten[trap]["files"]["checkpoints"]
        assert found == recorded(trap, rewritten[trap])["files"]["checkpoints"]
