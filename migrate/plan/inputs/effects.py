"""Input functions that are not the same when they are called once more."""

from __future__ import annotations

import libcst as cst

from ..code.reach import reachable
from ..code.tree import Tree
from ..estimator.lasting import changes

__all__ = ["has_effects"]

_DRAWS = ("numpy.random.", "random.")
# Generators of their own, which begin anew with each call.
_MADE = ("numpy.random.RandomState", "numpy.random.default_rng", "random.Random")


def has_effects(tree: Tree, call: cst.Call) -> bool:
    """What a call is given draws random numbers or changes what outlasts it."""
    nodes = list(reachable(tree, list(call.args)))
    for node in nodes:
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            return True
        if isinstance(node, cst.Call):
            name = tree.resolver.qualified(node.func) or ""
            fresh = name in _MADE and bool(node.args)
            if (name.startswith(_DRAWS) and not fresh) or name == "next":
                return True
    return any(
        isinstance(binding.scope.node, cst.Module)
        for root, _ in changes(tree, nodes)
        for binding in tree.resolver.bindings(root)
    )
