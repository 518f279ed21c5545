"""Whether code that builds graphs by hand runs by itself, or inside of a model."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..plan.code.tree import Tree

__all__ = ["gives_data", "handed_about"]

# Functions that Estimators call are named so, also where another file hands them on.
_CALLED_BY_OTHERS = ("_fn", "_func")
# What calls a program's main function, in its own thread.
_RUNS_MAIN = ("app.run", "run")


Function = cst.FunctionDef | cst.Lambda


def handed_about(tree: Tree, node: cst.CSTNode, beside: Sequence[Tree]) -> str | None:
    """The function around a node that something else than the program may call.

    An Estimator calls what it is given in a graph of its own; so may a library. None
    where every way to the node, in its file or those ``beside`` it, is a plain call.
    """
    found = _handed(tree, node, beside)
    return None if found is None else found[0]


def gives_data(tree: Tree, node: cst.CSTNode, beside: Sequence[Tree]) -> bool:
    """The function around a node that is handed about looks like one for input.

    It is no method that TensorFlow knows of, and nothing on the way to it takes the
    arguments of a model function.
    """
    found = _handed(tree, node, beside)
    return found is not None and not any(
        isinstance(function, cst.FunctionDef)
        and (_overrides(holder, function) or _is_of_model(function))
        for holder, function in found[1]
    )


def _is_of_model(function: cst.FunctionDef) -> bool:
    given = (*function.params.params, *function.params.kwonly_params)
    return "features" in {one.name.value for one in given}


def _handed(
    tree: Tree, node: cst.CSTNode, beside: Sequence[Tree]
) -> tuple[str, list[tuple[Tree, Function]]] | None:
    """The name of such a function, and all functions that were looked at on the way."""
    way: list[tuple[Tree, Function]] = []
    seen: set[cst.CSTNode] = set()
    pending = [(tree, node)]
    while pending:
        holder, inner = pending.pop()
        function = _function(holder, inner)
        if function is None or function in seen:
            continue
        seen.add(function)
        way.append((holder, function))
        if isinstance(function, cst.Lambda):
            return "lambda", way
        name = function.name.value
        if name.endswith(_CALLED_BY_OTHERS) or _overrides(holder, function):
            return name, way
        for other in (tree, *(one for one in beside if one is not tree)):
            for use in _uses(other, name):
                call = other.parent(use)
                if isinstance(call, cst.Call) and call.func is use:
                    pending.append((other, call))
                elif not _is_main(other, use):
                    return name, way
    return None


def _function(tree: Tree, node: cst.CSTNode) -> cst.FunctionDef | cst.Lambda | None:
    for holder in tree.ancestors(node):
        if isinstance(holder, (cst.FunctionDef, cst.Lambda)):
            return holder
    return None


def _overrides(tree: Tree, function: cst.FunctionDef) -> bool:
    """A method of a class whose base is TensorFlow's, or an Estimator's."""
    for holder in tree.ancestors(function):
        if isinstance(holder, cst.FunctionDef):
            return False
        if isinstance(holder, cst.ClassDef):
            bases = (tree.resolver.resolve(base.value) for base in holder.bases)
            return any(base is not None for base in bases)
    return False


def _uses(tree: Tree, name: str) -> list[cst.BaseExpression]:
    """Where a function, or a method, of this name is meant."""
    if name not in tree.text:
        return []
    found: list[cst.BaseExpression] = [
        load for load in tree.resolver.scopes.loads if load.value == name
    ]
    # `tf.train` is no function `train` of the program.
    found += [
        node
        for node in tree.nodes
        if isinstance(node, cst.Attribute)
        and node.attr.value == name
        and tree.resolver.resolve(node) is None
    ]
    return found


def _is_main(tree: Tree, use: cst.BaseExpression) -> bool:
    """The argument of ``tf.app.run(main)``."""
    argument = tree.parent(use)
    call = tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    dotted = tree.resolver.qualified(call.func)
    return dotted is not None and dotted.endswith(_RUNS_MAIN)
