"""Timing hooks and their reports."""

from __future__ import annotations

from .report import TimingReport, write_csv
from .timing import TimingHook

__all__ = ["TimingHook", "TimingReport", "write_csv"]
