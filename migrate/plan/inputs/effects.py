"""Input functions that are not the same when they are called once more."""

from __future__ import annotations

import libcst as cst

from ..code.tree import Tree
from ..model_fn.kept_checks import reachable
from ..model_fn.lasting import changes

__all__ = ["has_effects"]

_DRAWS = ("numpy.random.", "random.")


def has_effects(tree: Tree, call: cst.Call) -> bool:
    """What a call is given draws random numbers or changes what outlasts it."""
    nodes = list(reachable(tree, list(call.args)))
    for node in nodes:
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            return True
        if isinstance(node, cst.Call):
            name = tree.resolver.qualified(node.func) or ""
            if name.startswith(_DRAWS) or name == "next":
                return True
    return any(
        isinstance(binding.scope.node, cst.Module)
        for root, _ in changes(tree, nodes)
        for binding in tree.resolver.bindings(root)
    )
