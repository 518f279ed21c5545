"""Parity: record two programs and compare what they trained."""

from __future__ import annotations
