"""Timing hooks, their reports, and hooks in hand-written TF2 loops."""

from __future__ import annotations

from .driver import HookDriver
from .plots import plot_throughput
from .report import TimingReport, write_csv
from .timing import TimingHook

__all__ = [
    "HookDriver",
    "TimingHook",
    "TimingReport",
    "plot_throughput",
    "write_csv",
]
