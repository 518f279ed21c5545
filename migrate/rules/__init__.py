"""Rewrite rules: one module per rule."""

from __future__ import annotations
