"""Emitters: training plans become loops that a person could have written."""

from __future__ import annotations

from .across_files.rewrite import rewrite_across_files, why_alone
from .programs.choices import numbers_changed
from .rewrite import ProgramsRewrite, rewrite_programs

__all__ = [
    "ProgramsRewrite",
    "numbers_changed",
    "rewrite_across_files",
    "rewrite_programs",
    "why_alone",
]
