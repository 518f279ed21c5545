"""The JSON report. Its schema is ``report.schema.json`` beside this module."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from .. import __version__
from ..report.findings import Finding
from ..report.model import FileResult, Report
from ..report.proofs import Proof

FORMAT = 3


def schema() -> dict[str, Any]:
    """The published JSON schema of the report."""
    text = (
        resources.files(__package__).joinpath("report.schema.json").read_text("utf-8")
    )
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def json_report(report: Report, *, written: bool) -> str:
    """The report as JSON text, the same bytes for the same results."""
    return json.dumps(report_data(report, written=written), indent=1) + "\n"


def report_data(report: Report, *, written: bool) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "format": FORMAT,
        "tool": {"name": "tfmigrate", "version": __version__},
        "written": written,
        "summary": {
            "files": {s.value: n for s, n in report.files_by_status().items()},
            "findings": {o.value: n for o, n in report.findings_by_outcome().items()},
            "rules": {
                rule: {o.value: n for o, n in outcomes.items()}
                for rule, outcomes in report.findings_by_rule().items()
            },
            "programs": {o.value: n for o, n in report.programs_by_outcome().items()},
            "notes": sum(result.notes for result in report.results),
            "leftovers": report.leftovers(),
            "new_lines": sum(result.new_lines for result in report.results),
        },
        "proofs": [_proof(proof) for proof in report.proofs],
        "files": [_file(result) for result in report.results],
    }


def _proof(proof: Proof) -> dict[str, Any]:
    return {
        "program": proof.program.as_posix(),
        "outcome": proof.outcome.value,
        "told": proof.told,
        "steps": proof.steps,
        "difference": proof.difference,
    }


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path.as_posix(),
        "status": result.status.value,
        "error": result.error,
        "lines": result.lines,
        "new_lines": result.new_lines,
        "notes": result.notes,
        "program": None
        if result.program is None
        else {
            "outcome": result.program.outcome.value,
            "where": result.program.where.as_posix(),
            "line": result.program.line,
            "cell": result.program.cell,
            "reason": result.program.reason,
            "advice": result.program.advice,
            "review": result.program.review,
        },
        "findings": [_finding(finding) for finding in sorted(result.findings)],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "line": finding.line,
        "column": finding.column,
        "cell": finding.cell,
        "message": finding.message,
        "outcome": finding.outcome.value,
        "safety": finding.safety.value,
        "program": None if finding.program is None else finding.program.value,
        "reason": finding.reason,
        "advice": finding.advice,
        "symbol": finding.symbol,
        "fix": [
            {
                "line": part.line,
                "column": part.column,
                "end_line": part.end_line,
                "end_column": part.end_column,
                "text": part.text,
            }
            for part in finding.fix
        ],
    }
