"""Locating, checking and placing the data sets used in proofs."""

from __future__ import annotations
