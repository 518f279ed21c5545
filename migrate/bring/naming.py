"""One name for each thing of the text, where the sources had one for each module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .parts import CannotBundle, Imported, Part
from .reach import Entity, Reach

__all__ = ["choose_names"]


def choose_names(
    reach: Reach,
    parts: Sequence[Part],
    wanted: Sequence[Entity],
    bound: Mapping[str, str | None],
) -> dict[Entity, str]:
    """The name of every entity of the text.

    A name is the source's own unless it is taken, hidden by a local name where it
    is read, or a built-in name that another part means as such. ``bound`` are names
    that are taken from the start; with the path of an import, that import is used.
    """
    hidden: dict[Entity, set[str]] = {}
    for kept in reach.kept.values():
        for site in kept.sites:
            hidden.setdefault(site.entity, set()).update(site.hidden)
    names: dict[Entity, str] = {}
    taken = set(bound)
    for entity in _in_order(reach, parts, wanted):
        if entity in names:
            continue
        there = _there(entity, bound, hidden.get(entity, set()))
        if there is not None:
            names[entity] = there
            continue
        for name in _candidates(entity):
            others = reach.builtins.get(name, set()) - (
                set() if isinstance(entity, Imported) else {entity[0].part}
            )
            if name not in taken and name not in hidden.get(entity, ()) and not others:
                names[entity] = name
                taken.add(name)
                break
    return names


def _there(
    entity: Entity, bound: Mapping[str, str | None], hidden: set[str]
) -> str | None:
    """The name under which a thing is imported already."""
    if isinstance(entity, Imported):
        for name, path in bound.items():
            if path == entity.path and name not in hidden:
                return name
    return None


def _in_order(
    reach: Reach, parts: Sequence[Part], wanted: Sequence[Entity]
) -> Iterator[Entity]:
    """Entities, those first whose names matter most."""
    yield from wanted
    kept = [
        reach.kept[item] for part in parts for item in part.items if item in reach.kept
    ]
    for one in kept:
        for name in one.item.names:
            if name in one.item.part.global_names:
                yield (one.item.part.by_name[name][-1], name)
    for one in kept:
        for site in one.sites:
            if isinstance(site.entity, Imported):
                yield site.entity
    for one in kept:
        for name in one.item.names:
            yield (one.item.part.by_name[name][-1], name)


def _candidates(entity: Entity) -> Iterator[str]:
    """Names for an entity, the best first."""
    if isinstance(entity, Imported):
        yield entity.preferred
        root, _, below = entity.module.partition(".")
        if entity.attribute is None and below and entity.preferred == root:
            raise CannotBundle(f"import {entity.module} under another name")
        stem, name = entity.module.rpartition(".")[2], entity.preferred
    else:
        item, name = entity
        yield name
        if name in item.part.global_names:
            raise CannotBundle(f"{item.part.name}.{name} is assigned by functions")
        stem = item.part.stem
    lead = "_" if name.startswith("_") else ""
    stem = stem.upper() if name.isupper() else stem
    longer = f"{lead}{stem}_{name.lstrip('_')}"
    yield longer
    number = 2
    while True:
        yield f"{longer}_{number}"
        number += 1
