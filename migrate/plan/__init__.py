"""Recognisers: from a syntax tree to a training plan."""

from __future__ import annotations
