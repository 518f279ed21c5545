"""A run over files: what becomes of each, and of the programs that they are."""

from __future__ import annotations
