"""Optimizers and their rates."""

from __future__ import annotations
