"""Wrong migrations that lose alike, or nearly: which of them a verdict sees.

One legacy program, its loop, and some forty versions of that loop, each with one
mistake or with one other way to say what is right. The verdicts come from the command,
as a user would see them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from runner import Run, run, verify

PROGRAMS = Path(__file__).parent / "programs"

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
}


def versions(names: Iterable[str]) -> list[Any]:
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The legacy program, on the compat layer; its export lies where it runs."""
    folder = tmp_path_factory.mktemp("wines")
    done = run(PROGRAMS / "legacy_wines.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def verdict(legacy: Run, name: str) -> tuple[int, Any]:
    done = run(PROGRAMS / "loop_wines.py", name, start=legacy)
    if done.returncode:
        return 1, {"problem": done.stderr}
    result = verify(legacy.folder, done.folder, "--format", "json")
    assert result.returncode in (0, 1), result.stderr
    return result.returncode, json.loads(result.stdout)


@pytest.mark.parametrize("name", versions(MISTAKES))
def test_a_mistake_is_no_parity(name: str, legacy: Run) -> None:
    status, document = verdict(legacy, name)
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


@pytest.mark.parametrize("name", versions(RIGHT))
def test_no_false_alarm(name: str, legacy: Run) -> None:
    status, document = verdict(legacy, name)
    assert status == 0, document["verdict"]
    unequal = {c["what"] for c in document["checks"] if c["outcome"] != "same"}
    # The loops that were written by hand save none.
    assert unequal == {"checkpoints"}
    compared = {check["what"] for check in document["checks"]}
    assert {"optimizer slots", "weights and moving averages"} <= compared
