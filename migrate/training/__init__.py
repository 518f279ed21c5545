"""The parts of which training modules are put together."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["parts_for", "training_module"]


def parts_for(words: Iterable[str]) -> tuple[str, ...]:
    """The parts that hold what some words ask for."""
    return ("core",) if {*words} else ()


def training_module(parts: Iterable[str]) -> str:
    """The source text of a training module with some parts."""
    return f'"""Trains.\n\nParts: {", ".join(parts)}."""\n'
