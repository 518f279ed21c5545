"""What a rewritten file asks of a training module that the run adds to its project."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    """Words asked of the module at ``path``, an absolute one."""

    path: str
    words: frozenset[str]
