"""Whether two places of a function are in branches of which only one is taken."""

from __future__ import annotations

import libcst as cst

from ..plan.code.tree import Tree

__all__ = ["exclusive"]


def exclusive(tree: Tree, first: cst.CSTNode, second: cst.CSTNode) -> bool:
    """No pass goes through both places."""
    mine, other = _branches(tree, first), _branches(tree, second)
    for choice, branch in mine.items():
        if choice in other:
            if other[choice] is not branch:
                return True
        elif _leaves(branch):
            return True
    return any(
        _leaves(branch) for choice, branch in other.items() if choice not in mine
    )


def _branches(tree: Tree, node: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    """The ``if``s around a node, and the part of each that holds it."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    inner = node
    for holder in tree.ancestors(node):
        if isinstance(holder, (cst.FunctionDef, cst.Lambda)):
            break
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
