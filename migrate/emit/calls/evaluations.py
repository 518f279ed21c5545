"""Evaluations inside a loop, and what follows from their figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...plan.code.tree import Statement
from ...plan.estimator.results import PAIR
from ...plan.program import EstimatorCall
from ..module.template import parse_statements

if TYPE_CHECKING:
    from .train import TrainCalls

__all__ = ["evaluations"]


def evaluations(
    calls: TrainCalls, call: EstimatorCall, step: str, evaluation: str, *, local: bool
) -> dict[str, Sequence[Statement]]:
    """Evaluations, and what follows from their figures: exports, an early stop."""
    stock = call.stock
    shown = f'print(f"step {{{step}}}:", {evaluation})\n' if evaluation else ""
    made = parse_statements(shown)
    if not stock.evaluated and not call.exporters and not call.gives:
        return {
            "X_EVALUATE_NOW": made,
            "X_EVALUATE_LAST": made,
            "X_NO_CHANGE": [],
            "X_BEST": [],
        }
    results = "results" if local else calls.names.fresh("results")
    begin, after = "", ""
    if call.gives:
        results = calls.kept
        begin = f"{results} = None\n"
    for metric, smaller, most, first in stock.no_change:
        best, since = (
            name if local else calls.names.fresh(name) for name in ("best", "best_step")
        )
        begin += f"{best}, {since} = None, {step}\n"
        value, sign = f"{results}[{metric}]", "<" if smaller else ">"
        inner = (
            f"if {best} is None or {value} {sign} {best}:\n"
            f"    {best}, {since} = {value}, {step}\n"
            f"if {step} - {since} >= {most}:\n"
            f"    break  # no better for too long\n"
        )
        if first != "0":
            lines = "".join(f"    {line}\n" for line in inner.splitlines())
            inner = f"if {step} >= {first}:\n{lines}"
        after += inner
    for metric, sign, threshold, first in stock.crossed:
        test = f"{results}[{metric}] {sign} {threshold}"
        if first != "0":
            test = f"{step} >= {first} and {test}"
        after += f"if {test}:\n    break  # good enough\n"
    shown = f'{results} = {evaluation}\nprint(f"step {{{step}}}:", {results})\n'
    if call.exporters:
        exported = f"{calls.emitter.renamed['export_evaluated']}({results})\n"
        if call.gives == PAIR:
            begin += f"{calls.exported} = None\n"
            exported = f"{calls.exported} = {exported}"
        shown += exported
    if call.exporters or call.gives:
        made = parse_statements(shown)
    return {
        "X_EVALUATE_NOW": parse_statements(shown),
        "X_EVALUATE_LAST": made,
        "X_NO_CHANGE": parse_statements(after),
        "X_BEST": parse_statements(begin),
    }
