"""Scaffolds that hold nothing, which the Estimator filled with its own defaults."""

from __future__ import annotations

import libcst as cst

from ...symbols.scopes import BindingKind
from ..code.arguments import is_none
from ..code.statements import own_statements
from ..code.tree import Tree

__all__ = ["SCAFFOLD", "is_empty_scaffold"]

SCAFFOLD = "tf.train.Scaffold"


def is_empty_scaffold(tree: Tree, node: cst.BaseExpression) -> bool:
    """The value is None or ``Scaffold()``, whichever way the program takes."""
    if is_none(node):
        return True
    if isinstance(node, cst.IfExp):
        return all(is_empty_scaffold(tree, n) for n in (node.body, node.orelse))
    if isinstance(node, cst.BooleanOperation):
        # `scaffold_fn and scaffold_fn()`: where there is no function, None.
        made = node.right
        return (
            isinstance(node.operator, cst.And)
            and isinstance(made, cst.Call)
            and tree.code(made.func) == tree.code(node.left)
            and is_empty_scaffold(tree, made)
        )
    if isinstance(node, cst.Call):
        if tree.symbol(node.func) == SCAFFOLD:
            return not node.args
        return isinstance(node.func, cst.Name) and _makes_empty(tree, node.func)
    if isinstance(node, cst.Name):
        values = _values(tree, node)
        return bool(values) and all(
            not isinstance(v, cst.FunctionDef) and is_empty_scaffold(tree, v)
            for v in values
        )
    return False


def _makes_empty(tree: Tree, function: cst.Name) -> bool:
    """Every function that the name may stand for returns nothing else."""
    values = _values(tree, function)
    made = [v for v in values if isinstance(v, cst.FunctionDef) or not is_none(v)]
    return bool(made) and all(
        _makes_empty(tree, one) if isinstance(one, cst.Name) else _returns(tree, one)
        for one in made
    )


def _returns(tree: Tree, function: cst.BaseExpression | cst.FunctionDef) -> bool:
    if isinstance(function, cst.Lambda):
        return is_empty_scaffold(tree, function.body)
    if not isinstance(function, cst.FunctionDef):
        return False
    return all(
        is_empty_scaffold(tree, small.value)
        for statement in own_statements(function)
        if isinstance(statement, cst.SimpleStatementLine)
        for small in statement.body
        if isinstance(small, cst.Return) and small.value is not None
    )


def _values(tree: Tree, name: cst.Name) -> list[cst.BaseExpression | cst.FunctionDef]:
    """All that the name may be; nothing where that is not seen."""
    defined = tree.resolver.definition(name)
    if isinstance(defined, cst.FunctionDef):
        return [defined]
    found: list[cst.BaseExpression | cst.FunctionDef] = []
    for binding in tree.resolver.bindings(name):
        if binding.kind is not BindingKind.ASSIGN or binding.value is None:
            return []
        found.append(binding.value)
    return found
