"""Names of input functions that nothing reads after the loops are written."""

from __future__ import annotations

import re

import libcst as cst

from ...plan.code.tree import Statement, Tree, only_small, walk
from .edits import Edits

__all__ = ["drop_unread_lambdas"]


def drop_unread_lambdas(tree: Tree, edits: Edits) -> None:
    """Drop ``train_fn = lambda: ...`` whose body went into a loop's own code."""
    module = tree.module
    gone: set[cst.CSTNode] = {*edits.replace, *edits.expressions}
    written = ""
    for statement in walk(module):
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        small = only_small(statement)
        if not isinstance(small, cst.Assign) or not isinstance(small.value, cst.Lambda):
            continue
        target = small.targets[0].target
        if len(small.targets) != 1 or not isinstance(target, cst.Name):
            continue
        name = target.value
        loads = tree.loads(name)
        if not loads or statement in edits.replace:
            continue
        if not all(any(a in gone for a in tree.ancestors(load)) for load in loads):
            continue
        written = written or _written(module, edits)
        if re.search(rf"\b{re.escape(name)}\b", written) is None:
            edits.replace[statement] = []


def _written(module: cst.Module, edits: Edits) -> str:
    """All the code that the edits bring."""
    groups: list[list[Statement]] = [
        *edits.replace.values(),
        *edits.before.values(),
        *edits.after.values(),
    ]
    nodes: list[cst.CSTNode] = [one for group in groups for one in group]
    nodes += edits.expressions.values()
    return "\n".join(module.code_for_node(node) for node in nodes)
