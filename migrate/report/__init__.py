"""Findings and the reports made of them."""

from __future__ import annotations
