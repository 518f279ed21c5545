"""Emitters: training plans become loops that a person could have written."""

from __future__ import annotations

from .rewrite import ProgramsRewrite, rewrite_programs

__all__ = ["ProgramsRewrite", "rewrite_programs"]
