"""A whole program, rewritten as native TensorFlow 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..options import RewriteOptions
from ..project.facts import ParsedModule, ProjectFacts
from .code import Refused

__all__ = ["NativeFile", "native"]


@dataclass(frozen=True)
class NativeFile:
    """One file of a program as it will read."""

    parsed: ParsedModule
    # What it asks of the training module.
    words: frozenset[str]
    # (line of the original, what differs in numbers)
    notes: tuple[tuple[int, str], ...] = ()


def native(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
    options: RewriteOptions,
    *,
    module: str,
    package: Callable[[ParsedModule], str],
) -> dict[str, NativeFile]:
    """The files of a program that change, by absolute path, or raises Refused."""
    raise Refused("nothing is rewritten yet")
