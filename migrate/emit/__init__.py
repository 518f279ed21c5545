"""Emitters: training plans become loops that a person could have written."""

from __future__ import annotations

from .module.switches import SWITCHES, has_switches
from .programs.choices import numbers_changed
from .rewrite import ProgramsRewrite, rewrite_programs

__all__ = [
    "SWITCHES",
    "ProgramsRewrite",
    "has_switches",
    "numbers_changed",
    "rewrite_programs",
]
