"""What is kept of work on files, so that memory does not grow with the project."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from .sources import SourceError

# Parsed modules, or answers that hold some, kept at a time.
_CACHE = 64

Module = TypeVar("Module")


class Recent(OrderedDict[object, object]):
    """Answers that hold syntax trees: only those asked for last are kept.

    What is asked for again later is worked out again, with the same result.
    """

    def get(self, key: object, default: object = None) -> object:
        """What was kept, which stays."""
        if key not in self:
            return default
        self.move_to_end(key)
        return self[key]

    def __setitem__(self, key: object, value: object) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > _CACHE:
            self.popitem(last=False)


class Modules(Generic[Module]):
    """Parsed modules: the last ones, and those that somebody else holds anyhow.

    A program of many files holds them all while it is worked on: reading them once more
    for each question about a name took most of the time.
    """

    def __init__(self) -> None:
        self._last = Recent()
        self._held: WeakValueDictionary[tuple[str, str], Module] = WeakValueDictionary()

    def get(self, key: tuple[str, str]) -> Module | SourceError | None:
        """What is known of a file by its path and the digest of its content."""
        found = self._last.get(key)
        if found is None and key in self._held:
            found = self._last[key] = self._held[key]
        return found  # type: ignore[return-value]

    def keep(self, key: tuple[str, str], module: Module | SourceError) -> None:
        """Remember a module, or why the file could not be read."""
        self._last[key] = module
        if not isinstance(module, SourceError):
            self._held[key] = module
