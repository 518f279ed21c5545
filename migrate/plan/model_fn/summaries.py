"""Functions of a program that do nothing but write summaries of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.pure import is_pure
from ..code.statements import is_docstring
from ..code.tree import Statement, Tree, only_small, statements_of, walk

__all__ = ["summarises", "summary_functions"]

_NAMING = ("tf.name_scope", "tf.device")


def summarises(tree: Tree, call: cst.Call) -> bool:
    """A call, as a statement, of a function that only writes summaries."""
    defined = tree.resolver.definition(call.func)
    return (
        isinstance(defined, cst.FunctionDef)
        and isinstance(defined.body, cst.IndentedBlock)
        and not defined.decorators
        and _only_writes(tree, statements_of(defined.body))
        and any(_writes(tree, node) for node in walk(defined.body))
    )


def summary_functions(tree: Tree, owner: cst.FunctionDef) -> list[Statement]:
    """Definitions of such functions that only ``owner`` calls."""
    found: dict[cst.FunctionDef, None] = {}
    for node in walk(owner.body):
        if isinstance(node, cst.Call) and summarises(tree, node):
            defined = tree.resolver.definition(node.func)
            assert isinstance(defined, cst.FunctionDef)
            uses = tree.loads_of(defined)
            if all(owner in tree.ancestors(use) for use in uses):
                found[defined] = None
    return list(found)


def _writes(tree: Tree, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and (tree.symbol(node.func) or "").startswith(
        "tf.summary."
    )


def _only_writes(tree: Tree, statements: Sequence[Statement]) -> bool:
    for statement in statements:
        if isinstance(statement, cst.With):
            named = all(
                isinstance(item.item, cst.Call)
                and tree.symbol(item.item.func) in _NAMING
                for item in statement.items
            )
            inside = statement.body
            if not named or not isinstance(inside, cst.IndentedBlock):
                return False
            if not _only_writes(tree, statements_of(inside)):
                return False
            continue
        if is_docstring(statement):
            continue
        small = only_small(statement)
        if isinstance(small, cst.Expr):
            if not _writes(tree, small.value):
                return False
        elif not isinstance(small, cst.Assign) or not all(
            isinstance(target.target, cst.Name) for target in small.targets
        ):
            return False
        for node in walk(statement):
            if isinstance(node, cst.Call) and not _writes(tree, node):
                symbol = tree.symbol(node.func)
                if symbol is None or not is_pure(symbol):
                    return False
    return True
