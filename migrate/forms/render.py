"""Chooses the form of a report."""

from __future__ import annotations

from ..report.model import Report


def render(report: Report, form: str, *, written: bool, quiet: bool = False) -> str:
    """The report in one of the forms of --format."""
    if form == "json":
        from .json_report import json_report

        return json_report(report, written=written)
    if form == "sarif":
        from .sarif import sarif_report

        return sarif_report(report)
    if form == "github":
        from .github import github_report

        return github_report(report, written=written)
    if form == "html":
        from .html import html_report

        return html_report(report, written=written)
    from .text import text_report

    return text_report(report, written=written, quiet=quiet)
