"""Emitters: training plans become loops that a person could have written."""

from __future__ import annotations

from .programs.choices import numbers_changed
from .rewrite import ProgramsRewrite, rewrite_programs

__all__ = ["ProgramsRewrite", "numbers_changed", "rewrite_programs"]
