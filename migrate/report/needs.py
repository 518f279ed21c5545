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
    # The package that the module is in, empty for none.
    package: str = ""

    def __init__(
        self, path: str, kind: str, names: Iterable[str], package: str = ""
    ) -> None:
        object.__setattr__(self, "package", package)
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "names", tuple(sorted(names)))

    def with_names(self, names: Iterable[str]) -> Need:
        """The same module with more names."""
        return Need(self.path, self.kind, {*self.names, *names}, self.package)

    @property
    def module(self) -> str:
        """The name of the module."""
        return os.path.splitext(os.path.basename(self.path))[0]
