"""Packages of ours as source text, found without importing them."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from ..project.positions import code_of
from .outline import read_outline

__all__ = ["ModuleFile", "Sources", "installed_sources"]


@dataclass(frozen=True)
class ModuleFile:
    """A module that was made here; it is read like a file, and once."""

    name: str
    module: cst.Module

    def read_text(self, encoding: str) -> str:
        """The text."""
        del encoding
        return code_of(self.module)


@dataclass(frozen=True)
class Sources:
    """A package's modules as text: its import name and its folder.

    Modules of ``beside`` may be imported by these, and are taken like them.
    """

    root: str
    folder: Path
    beside: Sources | None = field(default=None, kw_only=True)

    @functools.cache  # noqa: B019
    def file(self, module: str) -> Path | None:
        """The file of a module given by its full dotted name."""
        if module != self.root and not module.startswith(self.root + "."):
            return None if self.beside is None else self.beside.file(module)
        parts = module.split(".")[len(self.root.split(".")) :]
        folder = self.folder.joinpath(*parts)
        for file in (folder / "__init__.py", folder.with_suffix(".py")):
            if file.is_file():
                return file
        return None

    def modules(self) -> list[str]:
        """Every module below the root, packages without code of theirs left out."""
        found = []
        for file in sorted(self.folder.rglob("*.py")):
            parts = file.relative_to(self.folder).with_suffix("").parts
            if parts[-1] != "__init__":
                found.append(".".join((self.root, *parts)))
        return found

    @functools.cache  # noqa: B019
    def homes(self) -> Mapping[str, tuple[str, ...]]:
        """The modules that define each public name at their top level."""
        found: dict[str, list[str]] = {}
        for module in self.modules():
            file = self.file(module)
            assert file is not None
            for name in sorted(read_outline(module, file).defined):
                found.setdefault(name, []).append(module)
        return {name: tuple(modules) for name, modules in found.items()}


def installed_sources(package: str, *, beside: Sources | None = None) -> Sources:
    """The sources of an installed package of ours."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Sources(package, Path(spec.submodule_search_locations[0]), beside=beside)
