"""A rough price of what is left to a person, the same for every report."""

from __future__ import annotations

from .findings import Finding, Outcome, Safety
from .model import Report

# Minutes for a person who knows the code. Read as a ranking of files, not as a
# promise: the reports say "about".
MINUTES = {
    "exact rewrite": 0,
    "rewrite to review": 5,
    "advice": 20,
    "left": 30,
    "failed": 30,
}


def finding_minutes(finding: Finding) -> int:
    """The price of one finding."""
    if finding.outcome is Outcome.REWRITTEN:
        exact = finding.safety is Safety.EXACT
        return MINUTES["exact rewrite" if exact else "rewrite to review"]
    return MINUTES[finding.outcome.value]


def report_minutes(report: Report) -> int:
    """The price of everything: findings, and files that could not be processed."""
    files = MINUTES["failed"] * len(report.failed)
    return files + sum(finding_minutes(finding) for finding in report.findings)
