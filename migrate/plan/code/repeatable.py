"""Tests that give the same wherever they stand."""

from __future__ import annotations

import libcst as cst

from .tree import Tree, walk

__all__ = ["is_repeatable"]

_ASKING = ("os.environ.get", "os.getenv", "os.path.exists", "os.path.isdir")
_BUILTINS = ("bool", "float", "getattr", "hasattr", "int", "isinstance", "len", "str")


def _only_asks(tree: Tree, call: cst.Call) -> bool:
    """The call looks at something and changes nothing."""
    function = call.func
    builtin = isinstance(function, cst.Name) and function.value in _BUILTINS
    if isinstance(function, cst.Name) and tree.resolver.bindings(function):
        builtin = False
    return builtin or tree.resolver.qualified(function) in _ASKING


def is_repeatable(tree: Tree, test: cst.BaseExpression) -> bool:
    """The test gives the same wherever it stands after its own place."""
    for node in walk(test):
        if isinstance(node, cst.Call):
            if not _only_asks(tree, node):
                return False
        elif isinstance(node, cst.Name) and node in tree.resolver.scopes.loads:
            for binding in tree.resolver.bindings(node):
                if len(binding.scope.bindings[binding.name]) != 1:
                    return False
        elif isinstance(
            node, (cst.NamedExpr, cst.Await, cst.Lambda, cst.BaseComp, cst.Yield)
        ):
            return False
    return not _set_later(tree, test)


def _set_later(tree: Tree, test: cst.BaseExpression) -> bool:
    """``args.gpus = 2`` stands behind the test that reads ``args.gpus``."""
    read = {n.attr.value for n in walk(test) if isinstance(n, cst.Attribute)}
    line = tree.line(test)
    return any(
        isinstance(node, cst.AssignTarget)
        and isinstance(node.target, cst.Attribute)
        and node.target.attr.value in read
        and tree.line(node) >= line
        for node in walk(tree.module)
    )
