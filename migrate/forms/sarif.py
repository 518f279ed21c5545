"""SARIF 2.1.0, the form that code hosts show beside the code.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..report.findings import Finding, Outcome, Replacement, Safety
from ..report.model import FileResult, Report
from ..rules.base import Rule

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)


def sarif_report(report: Report) -> str:
    """The report as a SARIF log with one run."""
    from ..rules.registry import all_rules

    used = {finding.rule for finding in report.places}
    new = {result.path for result in report.to_create}
    rules = [rule for rule in all_rules() if rule.id in used]
    descriptors = [_descriptor(rule) for rule in rules]
    for rule_id in sorted(used - {rule.id for rule in rules}):
        descriptors.append({"id": rule_id, "shortDescription": {"text": rule_id}})
    index = {one["id"]: number for number, one in enumerate(descriptors)}
    run = {
        "tool": {
            "driver": {
                "name": "tfmigrate",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": descriptors,
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            "SRCROOT": {"description": {"text": "Where tfmigrate was started."}}
        },
        "invocations": [
            {
                "executionSuccessful": not report.failed,
                "toolExecutionNotifications": [_failure(r) for r in report.failed],
            }
        ],
        "results": [
            _result(finding, index, fingerprint)
            for result in report.results
            if result.path not in new
            for finding, fingerprint in _fingerprints(result)
        ],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1) + "\n"


def _descriptor(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\nSee `tfmigrate explain {rule.id}`."},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"safety": rule.safety.value},
    }


def _artifact(path: Path) -> dict[str, Any]:
    location: dict[str, Any] = {"uri": quote(os.fsencode(path.as_posix()))}
    if path.is_absolute():
        location["uri"] = "file://" + location["uri"]
    else:
        location["uriBaseId"] = "SRCROOT"
    return location


def _result(
    finding: Finding, index: dict[str, int], fingerprint: str
) -> dict[str, Any]:
    text = finding.message
    if finding.reason:
        text += f" ({finding.reason})"
    if finding.advice:
        text += f"; {finding.advice}"
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(finding.path),
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }
    }
    if finding.cell is not None:
        location["logicalLocations"] = [
            {"name": f"cell {finding.cell}", "kind": "module"}
        ]
    data: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": "error" if finding.outcome is Outcome.FAILED else "warning",
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"tfmigrate/v1": fingerprint},
        "properties": {
            "outcome": finding.outcome.value,
            "safety": finding.safety.value,
            "program": None if finding.program is None else finding.program.value,
        },
    }
    if finding.fix:
        how = "exact" if finding.safety is Safety.EXACT else "review it"
        change = {
            "artifactLocation": _artifact(finding.path),
            "replacements": [_replacement(part) for part in finding.fix],
        }
        fix = {"description": {"text": f"Rewrite ({how})"}, "artifactChanges": [change]}
        data["fixes"] = [fix]
    return data


def _replacement(part: Replacement) -> dict[str, Any]:
    return {
        "deletedRegion": {
            "startLine": part.line,
            "startColumn": part.column,
            "endLine": part.end_line,
            "endColumn": part.end_column,
        },
        "insertedContent": {"text": part.text},
    }


def _fingerprints(result: FileResult) -> Iterator[tuple[Finding, str]]:
    """Findings, each with what stays when lines above are added or removed."""
    counts: Counter[tuple[str, str]] = Counter()
    for finding in sorted(result.findings):
        key = (finding.rule, finding.message)
        text = "\0".join((*key, str(counts[key])))
        counts[key] += 1
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
        yield finding, digest[:32]


def _failure(result: FileResult) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": f"cannot process: {result.error}"},
        "locations": [
            {"physicalLocation": {"artifactLocation": _artifact(result.path)}}
        ],
    }
