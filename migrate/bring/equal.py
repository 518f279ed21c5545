"""Short names that several modules give to the same thing of TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..symbols.dotted import dotted_name
from .parts import Imported, Item, Part
from .reach import Entity, Reach

__all__ = ["merge_equal"]


def merge_equal(reach: Reach, parts: Sequence[Part]) -> dict[Entity, Entity]:
    """Keep one of the assignments that say the same; what stands for the others.

    ``_ZEROS = tf.zeros_initializer()`` in three modules is one line of the text.
    Only for names of what TensorFlow has and for its initialisers, which have no
    state: two lists, locks or counters of ours are two.
    """
    first: dict[tuple[str, str, str], Item] = {}
    same: dict[Entity, Entity] = {}
    for part in parts:
        for item in part.items:
            meaning = _meaning(reach, item) if item in reach.kept else None
            if meaning is None:
                continue
            (name,) = item.names
            known = first.setdefault((name, *meaning), item)
            if known is not item:
                same[(item, name)] = (known, name)
                del reach.kept[item]
    for kept in reach.kept.values():
        for site in kept.sites:
            site.entity = same.get(site.entity, site.entity)
    return same


def _meaning(reach: Reach, item: Item) -> tuple[str, str] | None:
    """What a name stands for, if that is TensorFlow's and has no state."""
    node, sites = item.node, reach.kept[item].sites
    if (
        len(item.names) != 1
        or len(item.part.by_name[item.names[0]]) != 1
        or len(sites) != 1
        or not isinstance(sites[0].entity, Imported)
        or not isinstance(node, cst.SimpleStatementLine)
        or len(node.body) != 1
        or not isinstance(node.body[0], cst.Assign)
    ):
        return None
    path = sites[0].entity.path
    value = node.body[0].value
    call = ""
    if isinstance(value, cst.Call) and not value.args:
        value, call = value.func, "()"
    dotted = dotted_name(value)
    if dotted is None or not path.startswith("tensorflow."):
        return None
    if call and not dotted.endswith("_initializer"):
        return None
    return path, dotted.partition(".")[2] + call
