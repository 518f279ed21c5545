"""Timing hooks and reports."""

from __future__ import annotations
