"""A verdict as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import IO, TYPE_CHECKING, Any

from .comparison import NOISE_FACTOR
from .outcome import Check, Outcome
from .recording import Recording
from .verdict import Comparison, Training, Verdict, told_tensorflow

if TYPE_CHECKING:
    from .models import ModelVerdict

# What is compared, in the order of Training.comparisons.
_PAIRS = ("A and B", "A and real", "B and real")

# What, the figures of A, of B and of the real thing where it ran, the judgement.
Row = tuple[str, ...]


def heading(verdict: Verdict) -> list[str]:
    """What the columns of figures are."""
    columns = [verdict.first.kind.value, verdict.second.kind.value]
    for real in verdict.trainings[0].sides[2:]:
        columns.append(f"the legacy program on {told_tensorflow(real)}")
    return columns


def rows(verdict: Verdict) -> list[Row]:
    """Rows of (what, a cell for each column, judgement), every figure as measured."""
    sides = verdict.trainings[0].sides
    replicas = [side.replicas for side in sides]
    # 0 is one that is not known.
    agree = "-" if 0 in replicas else "same" if len(set(replicas)) == 1 else "differ"
    result = [
        ("runs on", [_producer(side.producer) for side in sides], ""),
        # 0 is one that is not known.
        (
            "replicas",
            [str(n or "-") for n in replicas],
            agree if all(replicas) else "-",
        ),
    ]
    for training in verdict.trainings:
        if len(verdict.trainings) > 1:
            told = "same" if training.parity else "differs"
            result.append((f"training: {training.name}", [], told))
        result += _training_rows(training)
    alone = "differs" if verdict.alone_is_wrong else "not compared"
    result += [(each, [], f"{alone}: it has no partner") for each in verdict.alone]
    if verdict.accuracy is not None:
        test = verdict.accuracy
        runs = test.first, test.second
        cells = [f"{fmean(each):.4f} (s {stdev(each):.4f})" for each in runs]
        shown = "equivalent" if test.equivalent else "not shown equivalent"
        told = f"{shown} within {test.margin:g} (p {test.p_value:.2g})"
        result.append((f"accuracy, mean of {len(test.first)} seeds", cells, told))
    # One training may lack the real thing's column that others have.
    width = max(len(cells) for _, cells, _ in result)
    return [
        (what, *cells, *[""] * (width - len(cells)), judgement)
        for what, cells, judgement in result
    ]


def _training_rows(training: Training) -> Iterator[tuple[str, list[str], str]]:
    sides = training.sides
    trajectory = training.between.trajectory
    counts = [len(side.initial_weights) for side in sides]
    yield (
        "initial weights",
        [f"{count} arrays" if count else "-" for count in counts],
        _judged_start(training.between),
    )
    steps = trajectory.steps
    trained = [str(side.global_step) for side in sides]
    yield "steps trained", trained, f"{len(steps)} compared"
    for step in dict.fromkeys([*steps[:1], *steps[-1:]]):
        known = [dict(zip(side.steps, side.losses, strict=True)) for side in sides]
        losses = [f"{each[step]:.7g}" if step in each else "-" for each in known]
        yield f"loss at step {step}", losses, ""
    judged = [_judged_losses(each) for _, each in training.comparisons]
    if len(set(judged)) == 1:
        del judged[1:]
    difference = trajectory.loss_difference
    told = "-" if difference is None else f"{difference:.2g}"
    yield (
        "largest relative loss difference",
        [told, _loss_limit(training.between)],
        _joined(list(enumerate(judged)), len(training.comparisons)),
    )
    yield from _check_rows(training)


def _judged_start(comparison: Comparison) -> str:
    """Whether both started alike, and by what weights found their partners."""
    if not comparison.trajectory.same_start:
        return "not compared"
    paired = [side.extra.get("paired") for side in comparison.recordings]
    told = [
        ", ".join(f"{count} by {what}" for what, count in each.items())
        for each in paired
        if each
    ]
    return "; ".join(["same", *told])


def _loss_limit(comparison: Comparison) -> str:
    source = f"{NOISE_FACTOR:g} x own noise"
    if not comparison.noise_measured:
        source = "tolerance"
    return f"{source} {max(comparison.trajectory.loss_limits, default=0.0):.2g}"


def _judged_losses(comparison: Comparison) -> str:
    trajectory = comparison.trajectory
    if trajectory.loss_difference is None:
        return "-"
    if trajectory.first_failure is not None:
        return f"differs from step {trajectory.first_failure}"
    return "same"


def _check_rows(training: Training) -> Iterator[tuple[str, list[str], str]]:
    """One row for each thing that was checked, whichever comparisons have it."""
    found: dict[str, list[tuple[int, Check]]] = {}
    for number, (_, comparison) in enumerate(training.comparisons):
        for check in comparison.checks:
            found.setdefault(check.what, []).append((number, check))
    for what, checks in found.items():
        cells = ["-"] * len(training.sides)
        for number, check in checks:
            # A against B; then the real thing against each of them.
            places = [(0, 1), (2, 0), (2, 1)][number]
            for place, cell in zip(places, (check.first, check.second), strict=True):
                cells[place] = cell or cells[place]
        count = len(checks)
        same = all(check.outcome is Outcome.SAME for _, check in checks)
        if same and count != 2:
            checks = [max(checks, key=lambda each: each[1].difference or 0.0)]
        told = [(number, check.judged) for number, check in checks]
        yield what, cells, _joined(told, count)


def _joined(told: Sequence[tuple[int, str]], count: int) -> str:
    """What each comparison found; what all three found is said once."""
    if len(told) == 1 and (count == 3 or told[0][0] == 0):
        return told[0][1]
    differ = any(each.startswith("differ") for _, each in told)
    named = "; ".join(f"{_PAIRS[number]}: {each}" for number, each in told)
    return f"differs ({named})" if differ else named


def print_verdict(verdict: Verdict, stream: IO[str]) -> None:
    """The table, the verdict's sentence and what a difference may come from."""
    letters = zip(("A: ", "B: ", ""), heading(verdict), strict=False)
    heads = [letter + told for letter, told in letters]
    before = [f"Data: {verdict.data}."] if verdict.data else []
    causes = [f"  - {cause}" for cause in verdict.causes]
    if causes:
        causes.insert(0, "Likely causes, most likely first:")
    paths = (verdict.first.path, verdict.second.path)
    print_table(paths, heads, rows(verdict), verdict, stream, before, causes)


def print_table(
    paths: Sequence[Path],
    heads: Sequence[str],
    rows: Sequence[Row],
    verdict: Verdict | ModelVerdict,
    stream: IO[str],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> None:
    """What was compared of two sides, and the verdict between the lines about it."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=stream, highlight=False, soft_wrap=not stream.isatty())
    for letter, path in zip("AB", paths, strict=True):
        console.print(f"{letter}  {path}", markup=False)
    table = Table(pad_edge=False)
    table.add_column("", overflow="fold")
    for head in heads:
        table.add_column(head, justify="right")
    table.add_column("")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for line in before:
        console.print(line, markup=False)
    style = "green" if verdict.parity else "red"
    console.print(verdict.sentence, style=style, markup=False)
    for line in after:
        console.print(line, markup=False)


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Everything in the table, and every step, for programs to read."""
    return {
        "parity": verdict.parity,
        "verdict": verdict.sentence,
        "replicas": verdict.replicas,
        "data": verdict.data,
        "noise_measured": verdict.noise_measured,
        "sides": [
            {"path": str(side.path), "kind": side.kind.value, **_side_json(recording)}
            for side, recording in zip(
                (verdict.first, verdict.second), verdict.recordings, strict=True
            )
        ],
        # Of the first training; `trainings` has them all.
        **_comparison_json(verdict.trainings[0].between),
        "trainings": [
            {
                "name": training.name,
                "parity": training.parity,
                **_comparison_json(training.between),
                "evaluate": [
                    dict(each.evaluate) for each in training.between.recordings
                ],
                "real": _real_json(training),
            }
            for training in verdict.trainings
        ],
        "without_partner": list(verdict.alone),
        "likely_causes": list(verdict.causes),
        "accuracy": _accuracy_json(verdict),
    }


def _accuracy_json(verdict: Verdict) -> dict[str, Any] | None:
    test = verdict.accuracy
    if test is None:
        return None
    return {
        "first": list(test.first),
        "second": list(test.second),
        "means": [fmean(test.first), fmean(test.second)],
        "standard_deviations": [stdev(test.first), stdev(test.second)],
        "margin": test.margin,
        "p_value": test.p_value,
        "equivalent": test.equivalent,
    }


def _side_json(recording: Recording) -> dict[str, Any]:
    return {
        "producer": dict(recording.producer),
        "global_step": recording.global_step,
        "evaluate": dict(recording.evaluate),
        "accuracy": recording.accuracy,
    }


def _real_json(training: Training) -> dict[str, Any] | None:
    """The legacy program on TF 1.x, and how A and B agree with it."""
    if not training.real:
        return None
    real = training.sides[2]
    return {
        **_side_json(real),
        "losses": list(real.losses),
        "against": [
            {"parity": each.parity, "problem": each.problem, **_comparison_json(each)}
            for each in training.real
        ],
    }


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    trajectory = comparison.trajectory
    return {
        "trajectory": {
            "steps": list(trajectory.steps),
            "losses": [list(trajectory.losses_first), list(trajectory.losses_second)],
            "relative_differences": trajectory.loss_differences,
            "limits": list(trajectory.loss_limits),
            "largest_relative_difference": trajectory.loss_difference,
            "first_failure": trajectory.first_failure,
            "same_start": trajectory.same_start,
            "largest_weight_difference": trajectory.weight_difference,
            "worst_weight": trajectory.worst_weight,
            "weight_drift": trajectory.weight_drift,
            "problems": list(trajectory.problems),
        },
        "checks": [check.as_dict() for check in comparison.checks],
    }


def _producer(producer: Any) -> str:
    version = producer.get("tensorflow")
    if not version:
        return "unknown"
    if producer.get("compat"):
        return f"compat, as TensorFlow {version}"
    return f"TensorFlow {version}"
