"""Checkpoints of both generations: listing, comparing, converting."""

from __future__ import annotations
