"""What a rewritten file takes from a module that a run adds to the project."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Need"]


@dataclass(frozen=True, init=False)
class Need:
    """Names of a module at ``path``; its ``kind`` is "loop" or "contrib"."""

    path: str
    kind: str
    names: tuple[str, ...]

    def __init__(self, path: str, kind: str, names: Iterable[str]) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "names", tuple(sorted(names)))

    @property
    def module(self) -> str:
        """The name of the module."""
        return os.path.splitext(os.path.basename(self.path))[0]
