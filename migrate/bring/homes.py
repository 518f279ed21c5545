"""Where the names of our packages are defined, told from outlines.

Most questions about a name end here: a module is taken apart only where one of its
definitions is copied.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from .outline import Imported, read_outline
from .sources import Sources

__all__ = ["Defined", "Home", "home_of", "home_of_import", "imported_modules"]


@dataclass(frozen=True)
class Defined:
    """The module of ours that defines something, and the name it has there."""

    module: str
    file: Path
    name: str

    @property
    def is_class(self) -> bool:
        """Whether the last of its definitions is a class."""
        return self.name in read_outline(self.module, self.file).classes

    @property
    def alias(self) -> str | None:
        """The dotted path that it is another name for, if it is one."""
        return read_outline(self.module, self.file).aliases.get(self.name)


# A definition, something imported, a module of ours by name, or nothing known.
Home = Defined | Imported | str | None


@functools.lru_cache(maxsize=16384)
def home_of(sources: Sources, module: str, name: str) -> Home:
    """Where what ``module.name`` means is from.

    A submodule's name counts where the package binds nothing of that name itself.
    """
    file = sources.file(module)
    if file is None:
        return None
    outline = read_outline(module, file)
    if name in outline.defined:
        return Defined(module, file, name)
    if name in outline.imports:
        imported = outline.imports[name]
        if imported.module == module and imported.attribute == name:
            return f"{module}.{name}"
        return home_of_import(sources, imported)
    for star in outline.stars:
        found = _starred(sources, star, name)
        if found is not None:
            return found
    below = f"{module}.{name}"
    return below if sources.file(below) is not None else None


def home_of_import(sources: Sources, imported: Imported) -> Home:
    """What an import means."""
    if imported.attribute is None:
        return imported.module if sources.file(imported.module) else imported
    if sources.file(imported.module) is None:
        return imported
    return home_of(sources, imported.module, imported.attribute)


def _starred(sources: Sources, module: str, name: str) -> Home:
    """What ``from module import *`` binds to a name."""
    file = sources.file(module)
    if file is None or name.startswith("_"):
        return None
    outline = read_outline(module, file)
    if outline.exported is not None:
        return home_of(sources, module, name) if name in outline.exported else None
    if name in outline.defined:
        return home_of(sources, module, name)
    for star in outline.stars:
        found = _starred(sources, star, name)
        if found is not None:
            return found
    return None


@functools.cache
def imported_modules(sources: Sources, module: str) -> tuple[str, ...]:
    """The modules of ours that are loaded with a module, by its own imports."""
    found: list[str] = []
    file = sources.file(module)
    assert file is not None
    outline = read_outline(module, file)
    for name, imported in outline.imports.items():
        if name in outline.typing_only:
            continue
        home = home_of_import(sources, imported)
        if isinstance(home, str):
            found.append(home)
        elif sources.file(imported.module) is not None:
            found.append(imported.module)
    found += [star for star in outline.stars if sources.file(star) is not None]
    return tuple(dict.fromkeys(found))
