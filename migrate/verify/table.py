"""A verdict as a table for people and as JSON for programs."""

from __future__ import annotations

from typing import IO, Any

from .checks import Check, Outcome
from .comparison import NOISE_FACTOR
from .parity import Verdict

__all__ = ["as_json", "print_verdict", "rows"]

Row = tuple[str, str, str, str]


def rows(verdict: Verdict) -> list[Row]:
    """Rows of (what, first, second, judgement), every figure as measured."""
    first, second = verdict.recordings
    trajectory = verdict.trajectory
    difference = trajectory.loss_difference
    failed = trajectory.first_failure
    limit = max(trajectory.loss_limits, default=0.0)
    judged = "-"
    if difference is not None:
        judged = "same" if failed is None else f"differs from step {failed}"
        if trajectory.only_ragged_end:
            judged = f"same before step {failed}"
    result: list[Row] = [
        ("", verdict.first.kind.value, verdict.second.kind.value, ""),
        ("runs on", _producer(first.producer), _producer(second.producer), ""),
        (
            "replicas",
            str(first.replicas or "-"),
            str(second.replicas or "-"),
            _agree(first.replicas, second.replicas),
        ),
        (
            "initial weights",
            _arrays(len(first.initial_weights)),
            _arrays(len(second.initial_weights)),
            "same" if trajectory.same_start else "not compared",
        ),
        (
            "steps trained",
            str(first.global_step),
            str(second.global_step),
            f"{len(trajectory.steps)} compared",
        ),
    ]
    if trajectory.steps:
        result.append(
            (
                f"loss at step {trajectory.steps[0]}",
                f"{trajectory.losses_first[0]:.7g}",
                f"{trajectory.losses_second[0]:.7g}",
                "",
            )
        )
        result.append(
            (
                f"loss at step {trajectory.steps[-1]}",
                f"{trajectory.losses_first[-1]:.7g}",
                f"{trajectory.losses_second[-1]:.7g}",
                "",
            )
        )
    source = f"{NOISE_FACTOR:g} x own noise" if verdict.noise_measured else "tolerance"
    result.append(
        (
            "largest relative loss difference",
            f"{difference:.2g}" if difference is not None else "-",
            f"{source} {limit:.2g}",
            judged,
        )
    )
    result += [_row(check) for check in verdict.checks]
    if verdict.accuracy is not None:
        test = verdict.accuracy
        result.append(
            (
                f"accuracy, mean of {test.runs_first} seeds",
                f"{test.mean_first:.4f} (s {test.spread_first:.4f})",
                f"{test.mean_second:.4f} (s {test.spread_second:.4f})",
                f"{'equivalent' if test.equivalent else 'not shown equivalent'} within "
                f"{test.margin:g} (p {test.p_value:.2g})",
            )
        )
    return result


def _row(check: Check) -> Row:
    if check.outcome is Outcome.NOT_COMPARED:
        return check.what, check.first, check.second, f"not compared: {check.note}"
    judged = check.outcome.value
    if check.difference is not None and check.limit is not None:
        judged += f" ({check.difference:.2g}, limit {check.limit:.2g})"
    if check.note:
        judged += f", {check.note}"
    return check.what, check.first or "-", check.second or "-", judged


def print_verdict(verdict: Verdict, stream: IO[str]) -> None:
    """The table and the verdict's sentence."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=stream, highlight=False, soft_wrap=not stream.isatty())
    table = Table(title=None, show_header=True, pad_edge=False)
    heading, *body = rows(verdict)
    console.print(f"A  {verdict.first.path}", markup=False)
    console.print(f"B  {verdict.second.path}", markup=False)
    table.add_column("")
    table.add_column(f"A: {heading[1]}", justify="right")
    table.add_column(f"B: {heading[2]}", justify="right")
    table.add_column("")
    for row in body:
        table.add_row(*row)
    console.print(table)
    if verdict.data:
        console.print(f"Data: {verdict.data}.", markup=False)
    console.print(
        verdict.sentence, style="green" if verdict.parity else "red", markup=False
    )
    if verdict.causes:
        console.print("Likely causes, most likely first:", markup=False)
        for cause in verdict.causes:
            console.print(f"  - {cause}", markup=False)


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Everything in the table, and every step, for programs to read."""
    trajectory = verdict.trajectory
    first, second = verdict.recordings
    document: dict[str, Any] = {
        "parity": verdict.parity,
        "verdict": verdict.sentence,
        "replicas": verdict.replicas,
        "data": verdict.data,
        "noise_measured": verdict.noise_measured,
        "sides": [
            {
                "path": str(side.path),
                "kind": side.kind.value,
                "producer": dict(recording.producer),
                "global_step": recording.global_step,
                "evaluate": dict(recording.evaluate),
                "accuracy": recording.accuracy,
            }
            for side, recording in (
                (verdict.first, first),
                (verdict.second, second),
            )
        ],
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
        "checks": [
            {
                "what": check.what,
                "outcome": check.outcome.value,
                "first": check.first,
                "second": check.second,
                "difference": check.difference,
                "limit": check.limit,
                "note": check.note,
            }
            for check in verdict.checks
        ],
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


def _producer(producer: Any) -> str:
    version = producer.get("tensorflow")
    if not version:
        return "unknown"
    if producer.get("compat"):
        return f"compat, as TensorFlow {version}"
    return f"TensorFlow {version}"


def _agree(first: int, second: int) -> str:
    """What the numbers of replicas amount to; 0 is one that is not known."""
    if 0 in (first, second):
        return "-"
    return "same" if first == second else "differ"


def _arrays(count: int) -> str:
    return f"{count} arrays" if count else "-"
