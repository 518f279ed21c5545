"""A verdict as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from .comparison import NOISE_FACTOR
from .models import ModelVerdict
from .outcome import Check, Outcome
from .recording import Recording
from .verdict import Comparison, Training, Verdict, told_tensorflow

# What is compared, in the order of Training.comparisons.
_PAIRS = ("A and B", "A and real", "B and real")

# What, the figures of A, of B and of the real thing where it ran, the judgement.
Row = tuple[str, ...]


def heading(verdict: Verdict) -> list[str]:
    """What the columns of figures are."""
    columns = [verdict.first.kind.value, verdict.second.kind.value]
    if verdict.trainings[0].real:
        legacy = verdict.trainings[0].real[0].recordings[0]
        columns.append(f"the legacy program on {told_tensorflow(legacy)}")
    return columns


def rows(verdict: Verdict) -> list[Row]:
    """Rows of (what, a cell for each column, judgement), every figure as measured."""
    sides = _sides(verdict.trainings[0])
    result: list[Row] = [
        ("runs on", *(_producer(side.producer) for side in sides), ""),
        (
            "replicas",
            *(str(side.replicas or "-") for side in sides),
            _agree(*(side.replicas for side in sides)),
        ),
    ]
    for training in verdict.trainings:
        if len(verdict.trainings) > 1:
            agree = [each.parity for _, each in training.comparisons]
            told = "same" if all(agree) else "differs"
            blank = [""] * len(_sides(training))
            result.append((f"training: {training.name}", *blank, told))
        result += _training_rows(training)
    for told in verdict.alone:
        judged_alone = "differs" if verdict.alone_is_wrong else "not compared"
        result.append((told, *[""] * len(sides), f"{judged_alone}: it has no partner"))
    if verdict.accuracy is not None:
        test = verdict.accuracy
        cells = [
            f"{test.mean_first:.4f} (s {test.spread_first:.4f})",
            f"{test.mean_second:.4f} (s {test.spread_second:.4f})",
            *[""] * (len(sides) - 2),
        ]
        result.append(
            (
                f"accuracy, mean of {test.runs} seeds",
                *cells,
                f"{'equivalent' if test.equivalent else 'not shown equivalent'} within "
                f"{test.margin:g} (p {test.p_value:.2g})",
            )
        )
    # One training may lack the real thing's column that others have.
    width = max(len(row) for row in result)
    return [(*row[:-1], *[""] * (width - len(row)), row[-1]) for row in result]


def _sides(training: Training) -> list[Recording]:
    real = [training.real[0].recordings[0]] if training.real else []
    return [*training.between.recordings, *real]


def _training_rows(training: Training) -> list[Row]:
    sides = _sides(training)
    trajectory = training.between.trajectory
    result: list[Row] = [
        (
            "initial weights",
            *(_arrays(len(side.initial_weights)) for side in sides),
            _judged_start(training.between),
        ),
        (
            "steps trained",
            *(str(side.global_step) for side in sides),
            f"{len(trajectory.steps)} compared",
        ),
    ]
    for step in dict.fromkeys([*trajectory.steps[:1], *trajectory.steps[-1:]]):
        cells = [dict(zip(side.steps, side.losses, strict=True)) for side in sides]
        losses = [f"{each[step]:.7g}" if step in each else "-" for each in cells]
        result.append((f"loss at step {step}", *losses, ""))
    losses_judged = [_judged_losses(each) for _, each in training.comparisons]
    if len(set(losses_judged)) == 1:
        del losses_judged[1:]
    difference = trajectory.loss_difference
    told = f"{difference:.2g}" if difference is not None else "-"
    figures = [told, _loss_limit(training.between)]
    result.append(
        (
            "largest relative loss difference",
            *figures,
            *[""] * (len(sides) - 2),
            _joined(list(enumerate(losses_judged)), len(training.comparisons)),
        )
    )
    result += _check_rows(training)
    return result


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


def _check_rows(training: Training) -> list[Row]:
    """One row for each thing that was checked, whichever comparisons have it."""
    found: dict[str, list[tuple[str, int, Check]]] = {}
    for number, (before, comparison) in enumerate(training.comparisons):
        for check in comparison.checks:
            found.setdefault(check.what, []).append((before, number, check))
    result: list[Row] = []
    for what, checks in found.items():
        cells = ["-"] * len(_sides(training))
        for _, number, check in checks:
            # A against B; then the real thing against each of them.
            places = [(0, 1), (2, 0), (2, 1)][number]
            for place, cell in zip(places, (check.first, check.second), strict=True):
                cells[place] = cell or cells[place]
        told = [(number, judged(check)) for _, number, check in checks]
        if all(check.outcome is Outcome.SAME for _, _, check in checks):
            worst = max(checks, key=lambda each: each[2].difference or 0.0)
            told = [(worst[1], judged(worst[2]))] if len(checks) != 2 else told
        result.append((what, *cells, _joined(told, len(checks))))
    return result


def _joined(told: Sequence[tuple[int, str]], count: int) -> str:
    """What each comparison found; what all three found is said once."""
    if len(told) == 1 and (count == 3 or told[0][0] == 0):
        return told[0][1]
    differ = any(each.startswith("differ") for _, each in told)
    named = "; ".join(f"{_PAIRS[number]}: {each}" for number, each in told)
    return f"differs ({named})" if differ else named


def judged(check: Check) -> str:
    """What a check found, in a cell."""
    if check.outcome is Outcome.NOT_COMPARED:
        return f"not compared: {check.note}"
    told = str(check.outcome.value)
    if check.difference is not None and check.limit is not None:
        told += f" ({check.difference:.2g}, limit {check.limit:.2g})"
    return told + (f", {check.note}" if check.note else "")


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
    table = Table(title=None, show_header=True, pad_edge=False)
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
    document: dict[str, Any] = {
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
                "parity": all(each.parity for _, each in training.comparisons),
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
        "accuracy": None,
    }
    if verdict.accuracy is not None:
        test = verdict.accuracy
        document["accuracy"] = {
            "first": list(verdict.accuracies[0]),
            "second": list(verdict.accuracies[1]),
            "means": [test.mean_first, test.mean_second],
            "standard_deviations": [test.spread_first, test.spread_second],
            "margin": test.margin,
            "p_value": test.p_value,
            "equivalent": test.equivalent,
        }
    return document


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
    return {
        **_side_json(training.real[0].recordings[0]),
        "losses": list(training.real[0].recordings[0].losses),
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


def _agree(*counts: int) -> str:
    """What the numbers of replicas amount to; 0 is one that is not known."""
    if 0 in counts:
        return "-"
    return "same" if len(set(counts)) == 1 else "differ"


def _arrays(count: int) -> str:
    return f"{count} arrays" if count else "-"
