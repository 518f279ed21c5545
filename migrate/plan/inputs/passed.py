"""Input functions that reach the Estimator as an argument of a function around it."""

from __future__ import annotations

import libcst as cst

from ...symbols.scopes import BindingKind
from ..code.tree import Tree

__all__ = ["passed_values"]


def passed_values(tree: Tree, node: cst.CSTNode) -> list[cst.BaseExpression] | None:
    """What callers in the module give for a parameter, or None where it is not seen.

    Every caller has to be seen: a method is any attribute of its name.
    """
    if not isinstance(node, cst.Name):
        return None
    found = tree.resolver.bindings(node)
    if len(found) != 1 or found[0].kind is not BindingKind.PARAMETER:
        return None
    defined = found[0].scope.node
    if not isinstance(defined, cst.FunctionDef) or defined.decorators:
        return None
    if node.value in [p.name.value for p in defined.params.kwonly_params]:
        return None
    names = [p.name.value for p in defined.params.params]
    if node.value not in names:
        return None
    body = tree.parent(defined)
    holder = tree.parent(body) if body is not None else None
    method = isinstance(holder, cst.ClassDef)
    place = names.index(node.value) - method
    values = []
    for call in _calls(tree, defined.name.value, method=method) or ():
        value = _given(call, node.value, place)
        if value is None:
            return None
        values.append(value)
    return values or None


def _calls(tree: Tree, name: str, *, method: bool) -> list[cst.Call] | None:
    """Every call of a function or method, or None where it is used otherwise."""
    calls = []
    for node in tree.nodes:
        if method:
            named = isinstance(node, cst.Attribute) and node.attr.value == name
            if not named or tree.symbol(node) is not None:
                continue
        elif node not in tree.loads(name):
            continue
        call = tree.parent(node)
        if not isinstance(call, cst.Call) or call.func is not node:
            return None
        calls.append(call)
    return calls


def _given(call: cst.Call, name: str, place: int) -> cst.BaseExpression | None:
    if any(argument.star for argument in call.args):
        return None
    for number, argument in enumerate(call.args):
        if argument.keyword is None and number == place:
            return argument.value
        if argument.keyword is not None and argument.keyword.value == name:
            return argument.value
    return None
