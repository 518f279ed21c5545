"""Wrong migrations that lose alike, or nearly: which of them a verdict sees.

One legacy program, its loop, and some forty versions of that loop, each with one
mistake or with one other way to say what is right. All train in forks of one
process; the verdicts come from the command, as a user would see them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tfmigrate.cli import cli

PROGRAMS = Path(__file__).parent / "programs"
FORKED = Path(__file__).parents[1] / "emit" / "forked.py"
INSTRUMENTS = "tfmigrate.verify.instruments"

# The first thing that gives each mistake away.
MISTAKES = {
    # Training does not show these.
    "frozen_averages": "weights and moving averages",
    "norm_momentum": "weights and moving averages",
    "short_evaluation": "evaluate: accuracy",
    "metric_weights": "evaluate: weighted_accuracy",
    "metric": "evaluate: accuracy",
    "dropout_in_evaluation": "evaluate: loss",
    "stale_averages": "evaluate: loss",
    "evaluated_in_training_mode": "evaluate: loss",
    # A normalization takes the scale away from all but its averages.
    "scaling": "weights and moving averages",
    "no_export": "exported models",
    "initializer": "initializers",
    # The first loss does.
    "class_weights": "losses",
    "label_shift": "losses",
    "order": "losses",
    "l2_factor": "losses",
    "lost_decay": "losses",
    "decay_twice": "losses",
    "label_smoothing": "losses",
    "sum_for_mean": "losses",
    "activation": "losses",
    "no_dropout": "losses",
    "dropout_rate": "losses",
    "norm_epsilon": "losses",
    # The second, or one of the next.
    "bias_decay": "losses",
    "rate": "losses",
    "momentum": "losses",
    "nesterov": "losses",
    "no_clipping": "losses",
    "clip_each": "losses",
    "schedule": "losses",
    "staircase": "losses",
    "frozen_layer": "losses",
    "full_batch_mean": "losses",
    # The number of steps, or of weights.
    "repeat_after_batch": "problem",
    "dropped_tail": "problem",
    "extra_epoch": "problem",
    "no_bias": "problem",
}
RIGHT = (
    "right",
    "right_built_late",
    "right_divided_once",
    "right_names",
    "right_clipping",
    "right_shuffled",
    "right_pipeline",
    "right_eager",
    # The legacy program itself, as `rewrite --style module` makes it.
    "on_loop_module",
)


# Those that only a verdict over more than losses sees, and one of each other kind.
QUICK = {
    "frozen_averages",
    "norm_momentum",
    "short_evaluation",
    "metric_weights",
    "dropout_in_evaluation",
    "no_export",
    "initializer",
    "l2_factor",
    "dropout_rate",
    "schedule",
    "extra_epoch",
    "right",
    "right_names",
    "on_loop_module",
}


def versions(names: Iterable[str]) -> list[Any]:
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.fixture(scope="module")
def recordings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Recordings of the legacy program and of the versions that are asked for."""
    wanted = {
        item.callspec.params["name"]
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    }
    folder = tmp_path_factory.mktemp("mistakes")
    legacy, weights = folder / "legacy", folder / "legacy" / "initial_weights.npz"
    jobs: list[Any] = [
        [
            str(folder / "legacy.log"),
            f"{INSTRUMENTS}.legacy_program",
            [
                *["--compat", "--no-predictions", "--no-shuffle", "--steady-random"],
                *["--replicas", "1"],
                *["--model-dir", str(folder / "files"), "--out", str(legacy)],
                str(PROGRAMS / "legacy_wines.py"),
            ],
        ]
    ]
    if "on_loop_module" in wanted:
        program = folder / "moved" / "train.py"
        program.parent.mkdir()
        program.write_bytes((PROGRAMS / "legacy_wines.py").read_bytes())
        moved = CliRunner().invoke(
            cli, ["rewrite", str(program), "--style", "module", "--allow-dirty"]
        )
        assert moved.exit_code == 0, moved.output
    for name in sorted(wanted):
        module = name == "on_loop_module"
        script = folder / "moved" / "train.py" if module else PROGRAMS / "loop_wines.py"
        jobs.append(
            [
                str(folder / f"{name}.log"),
                f"{INSTRUMENTS}.{'module_program' if module else 'tf2_program'}",
                [
                    *["--out", str(folder / name), "--no-shuffle", "--steady-random"],
                    *["--replicas", "1"],
                    *["--initial-weights", str(weights)],
                    *[str(script), name],
                ],
            ]
        )
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), encoding="utf-8")
    subprocess.run(
        [sys.executable, str(FORKED), str(listed)],
        cwd=folder,
        check=False,
        timeout=1500,
    )
    assert (legacy / "recording.json").is_file(), (folder / "legacy.log").read_text()
    return folder


def verdict(recordings: Path, name: str) -> tuple[int, Any]:
    if not (recordings / name / "recording.json").is_file():
        return 1, {"problem": (recordings / f"{name}.log").read_text("utf-8")}
    sides = [str(recordings / "legacy"), str(recordings / name)]
    result = CliRunner().invoke(cli, ["verify", *sides, "--format", "json"])
    assert result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads(result.stdout)


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("name", versions(MISTAKES))
def test_a_mistake_is_no_parity(name: str, recordings: Path) -> None:
    status, document = verdict(recordings, name)
    assert status == 1, document["verdict"]
    if MISTAKES[name] == "problem":
        told = document.get("problem") or document["trajectory"]["problems"]
        assert told
        return
    seen = {c["what"] for c in document["checks"] if c["outcome"] == "differs"}
    if document["trajectory"]["first_failure"] is not None:
        seen.add("losses")
    assert MISTAKES[name] in seen
    assert document["likely_causes"]


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("name", versions(RIGHT))
def test_no_false_alarm(name: str, recordings: Path) -> None:
    status, document = verdict(recordings, name)
    assert status == 0, document["verdict"]
    unequal = {c["what"] for c in document["checks"] if c["outcome"] != "same"}
    # The loops that were written by hand save none.
    assert unequal == ({"checkpoints"} if name != "on_loop_module" else set())
    compared = {check["what"] for check in document["checks"]}
    assert {"optimizer slots", "weights and moving averages"} <= compared
