"""Findings as GitHub Actions' annotations, which stand beside the code of a change."""

from __future__ import annotations

from ..report.findings import Outcome
from ..report.model import Report
from .text import program_lines, summary_lines

_LEVELS = {
    Outcome.REWRITTEN: "notice",
    Outcome.ADVICE: "warning",
    Outcome.LEFT: "warning",
    Outcome.FAILED: "error",
}


def github_report(report: Report, *, written: bool) -> str:
    """A command of the workflow for each place and failure, then the summary."""
    lines = []
    for one in report.places:
        told = "; ".join(filter(None, (one.message, one.reason, one.advice)))
        # Lines of a cell are not lines of the notebook's file.
        line = f",line={one.line},col={one.column}" if one.cell is None else ""
        cell = "" if one.cell is None else f"cell {one.cell}, line {one.line}: "
        place = f"file={_value(one.path.as_posix())}{line},title={one.rule}"
        lines.append(f"::{_LEVELS[one.outcome]} {place}::{_text(cell + told)}")
    for result in report.failed:
        file = _value(result.path.as_posix())
        lines.append(f"::error file={file}::{_text(str(result.error))}")
    lines += [*program_lines(report), *summary_lines(report, written=written)]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
