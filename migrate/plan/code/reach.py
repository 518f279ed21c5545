"""What code reaches: the functions of its module that it names, and theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from .tree import Tree, walk

__all__ = ["reachable"]


def reachable(tree: Tree, roots: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Nodes below the roots and in the module's functions that they name."""
    seen: set[cst.CSTNode] = set()
    pending = list(roots)
    while pending:
        for node in walk(pending.pop()):
            if node in seen:
                continue  # of a function inside another one that names it
            seen.add(node)
            yield node
            if isinstance(node, cst.Name) and node in tree.resolver.scopes.loads:
                defined = tree.resolver.definition(node)
                if defined is not None:
                    pending.append(defined)
