"""The JSON report. Its schema is ``report.schema.json`` beside this module."""

from __future__ import annotations

import enum
import json
from importlib import resources
from pathlib import Path
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


def _fields(one: object, *names: str) -> dict[str, Any]:
    """Some fields of a value as plain data."""
    return {name: _plain(getattr(one, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    return value.as_posix() if isinstance(value, Path) else value


def _proof(proof: Proof) -> dict[str, Any]:
    return _fields(proof, "program", "outcome", "told", "steps", "difference")


def _file(result: FileResult) -> dict[str, Any]:
    program = None
    if result.program is not None:
        names = ("outcome", "where", "line", "cell", "reason", "advice", "review")
        program = _fields(result.program, *names)
    return {
        **_fields(result, "path", "status", "error", "lines", "new_lines", "notes"),
        "program": program,
        "findings": [_finding(finding) for finding in sorted(result.findings)],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    place = ("rule", "line", "column", "cell", "message")
    more = ("outcome", "safety", "program", "reason", "advice", "symbol")
    region = ("line", "column", "end_line", "end_column", "text")
    fix = [_fields(part, *region) for part in finding.fix]
    return {**_fields(finding, *place, *more), "fix": fix}
