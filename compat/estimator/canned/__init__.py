"""Canned estimators: ``v1`` and ``v2`` hold the public classes of each generation."""

from __future__ import annotations
