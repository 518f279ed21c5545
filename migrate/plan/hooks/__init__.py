"""Hooks: what each of them asks of a loop."""

from __future__ import annotations
