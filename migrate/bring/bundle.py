"""One self-contained module out of several of ours."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..project.files import WRITTEN_HERE
from .equal import merge_equal
from .naming import choose_names
from .parts import CannotBundle, Imported
from .reach import Entity, Reach
from .sources import Sources
from .writing import write_body, write_imports, write_module

__all__ = ["Bundle", "bundle"]


@dataclass(frozen=True)
class Bundle:
    """The text of a module, and the name in it of each thing asked for.

    ``imports`` are its import sections and ``body`` all below, for text that is put
    into a module that exists; ``parts`` are the modules that it is made of. The text is
    written when it is asked for: many ask for no more than the names.
    """

    doc: str
    names: Mapping[str, str]
    imports: Sequence[str]
    write: Callable[[], str] = field(repr=False, compare=False)
    parts: Sequence[str] = ()

    @property
    def body(self) -> str:
        """The definitions."""
        return self.write()

    @property
    def text(self) -> str:
        """All of the module."""
        return write_module(self.doc, self.imports, self.body)


def bundle(
    sources: Sources,
    wanted: Iterable[str],
    *,
    doc: str,
    used: Collection[str] | None = None,
    order: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
    instead: Mapping[str, str] | None = None,
    stay: Collection[str] = (),
    bound: Mapping[str, str | None] | None = None,
) -> Bundle:
    """The definitions behind some names, and all they use, as one module.

    Args:
      sources: the package whose modules are put together.
      wanted: public names. ``name`` is looked for in every module, ``module.name``
        in that module below the root.
      doc: the docstring; a line that marks the module as ours is added.
      used: every word of the project that gets the module. A method whose name is
        neither among them nor anywhere in the text is left out. None keeps all.
      order: modules, by last name, in the order to read them in.
      given: full names of definitions that another module of the project has, and
        where (``module.name``): they are imported instead of copied.
      instead: full names of definitions, and of those that take their place.
      stay: modules nothing may be copied from, by full name, those below included.
      bound: names that the text may not define, because it is put where they are
        taken; those that are imports with the path of what they import.

    Raises:
      CannotBundle: something that is needed cannot be copied.
    """
    reach = Reach(sources, used=used, given=given, instead=instead, stay=stay)
    entities: dict[str, Entity] = {}
    for name in dict.fromkeys(wanted):
        entity = reach.want(*_place(sources, name))
        if isinstance(entity, Imported):
            raise CannotBundle(f"{name} is only imported there")
        entities[name] = entity
    reach.finish()
    parts = reach.parts(order)
    same = merge_equal(reach, parts)
    entities = {name: same.get(entity, entity) for name, entity in entities.items()}
    parts = [part for part in parts if any(item in reach.kept for item in part.items)]
    names = choose_names(reach, parts, list(entities.values()), bound or {})
    imports = write_imports(reach, names, bound or {})
    chosen = {name: names[entity] for name, entity in entities.items()}
    return Bundle(
        f"{doc.strip()}\n\n{WRITTEN_HERE}\n",
        chosen,
        imports,
        functools.cache(lambda: write_body(reach, parts, names)),
        [part.stem for part in parts],
    )


def _place(sources: Sources, name: str) -> tuple[str, str]:
    """The module and the name in it of a wanted name."""
    module, _, attribute = name.rpartition(".")
    if module:
        return f"{sources.root}.{module}", attribute
    found = sources.homes().get(name, ())
    if not found:
        raise CannotBundle(f"nothing defines {name} in {sources.root}")
    if len(found) > 1:
        raise CannotBundle(f"{name} is defined in {' and '.join(found)}")
    return found[0], name
