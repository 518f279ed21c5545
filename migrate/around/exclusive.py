"""Whether two places of a function are in branches of which only one is taken."""

from __future__ import annotations

import libcst as cst

from ..plan.code.tree import Tree

__all__ = ["exclusive"]


def exclusive(tree: Tree, first: cst.CSTNode, second: cst.CSTNode) -> bool:
    """No pass goes through both places."""
    if tree.function(first) is not tree.function(second):
        return False
    mine, other = _branches(tree, first), _branches(tree, second)
    if any(choice in other and other[choice] is not mine[choice] for choice in mine):
        return True
    return _is_left_before(tree, mine, second) or _is_left_before(tree, other, first)


def _is_left_before(
    tree: Tree, branches: dict[cst.CSTNode, cst.CSTNode], place: cst.CSTNode
) -> bool:
    """A pass through these branches ends before it comes to a place further down."""
    around = set(tree.ancestors(place))
    return any(
        _leaves(branch)
        and choice not in around
        and tree.line(place) > tree.line(choice)
        for choice, branch in branches.items()
    )


def _branches(tree: Tree, node: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    """The ``if``s around a node, and the part of each that holds it.

    Those in a loop are left out: each of its rounds may take another part.
    """
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    inner = node
    for holder in tree.ancestors(node):
        if isinstance(holder, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(holder, (cst.For, cst.While)):
            found.clear()
        if isinstance(holder, (cst.If, cst.IfExp)):
            found[holder] = inner
        inner = holder
    return found


def _leaves(branch: cst.CSTNode) -> bool:
    """The function ends with this branch."""
    if isinstance(branch, cst.Else):
        branch = branch.body
    if not isinstance(branch, cst.IndentedBlock) or not branch.body:
        return False
    last = branch.body[-1]
    return isinstance(last, cst.SimpleStatementLine) and isinstance(
        last.body[-1], (cst.Return, cst.Raise)
    )
