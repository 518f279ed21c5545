"""Results of a function that no caller looks at."""

from __future__ import annotations

import libcst as cst

from ..plan.code.tree import Tree

__all__ = ["is_returned_in_vain"]


def is_returned_in_vain(tree: Tree, load: cst.Name) -> bool:
    """A function returns it among others, and no caller looks at it."""
    element = tree.parent(load)
    row = tree.parent(element) if isinstance(element, cst.Element) else None
    function = tree.function(load)
    if not isinstance(row, cst.Tuple) or not isinstance(function, cst.FunctionDef):
        return False
    if not isinstance(tree.parent(row), cst.Return):
        return False
    place = next(n for n, one in enumerate(row.elements) if one is element)
    uses = tree.loads_of(function)
    return bool(uses) and all(_drops(tree, one, place) for one in uses)


def _drops(tree: Tree, load: cst.Name, place: int) -> bool:
    """A call of a function binds one of its results to a name that nobody reads."""
    call = tree.parent(load)
    bound = tree.parent(call) if isinstance(call, cst.Call) else None
    if not isinstance(bound, cst.Assign) or len(bound.targets) > 1:
        return False
    row = bound.targets[0].target
    if not isinstance(row, cst.Tuple) or len(row.elements) <= place:
        return False
    if any(isinstance(one, cst.StarredElement) for one in row.elements):
        return False
    name = row.elements[place].value
    read = (
        any(one.node in (bound, name) for one in tree.resolver.bindings(node))
        for node in tree.loads(name.value if isinstance(name, cst.Name) else "")
    )
    return isinstance(name, cst.Name) and not any(read)
