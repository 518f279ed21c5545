"""Small functions that make one variable, written out where they are called.

``w = weight_variable([5, 5], "w")`` says no more than ``get_variable`` itself.
"""

from __future__ import annotations

import libcst as cst

from ..code.arguments import UnknownArguments, match_arguments
from ..code.statements import is_docstring
from ..code.substitute import substituted
from ..code.tree import Tree, only_small, statements_of, walk

__all__ = ["with_variables_written_out"]


def with_variables_written_out(tree: Tree, *, shared: bool) -> cst.Module | None:
    """The module with the calls of one such function written out, or None.

    The function goes, unless the module is ``shared`` with other files.
    """
    if shared:
        return None
    for helper in statements_of(tree.module):
        value = _made(tree, helper) if isinstance(helper, cst.FunctionDef) else None
        if value is None:
            continue
        assert isinstance(helper, cst.FunctionDef)
        changes = _Written()
        uses = tree.loads_of(helper)
        for name in uses:
            call = tree.parent(name)
            if not isinstance(call, cst.Call) or call.func is not name:
                break
            instead = _instead(tree, helper, value, call)
            if instead is None:
                break
            changes.calls[call] = instead
        if uses and len(changes.calls) == len(uses):
            changes.gone = helper
            module = tree.module.visit(changes)
            assert isinstance(module, cst.Module)
            return module
    return None


def _made(tree: Tree, helper: cst.FunctionDef) -> cst.Call | None:
    """What ``def f(shape, name): return tf.get_variable(name, shape, ...)`` makes."""
    if (
        not isinstance(helper.body, cst.IndentedBlock)
        or helper.decorators
        or helper.params.star_kwarg is not None
        or helper.params.kwonly_params
        or isinstance(helper.params.star_arg, cst.Param)
    ):
        return None
    body = [s for s in statements_of(helper.body) if not is_docstring(s)]
    last = only_small(body[0]) if len(body) == 1 else None
    value = last.value if isinstance(last, cst.Return) else None
    if isinstance(value, cst.Call) and tree.symbol(value.func) == "tf.get_variable":
        return value
    return None


def _instead(
    tree: Tree, helper: cst.FunctionDef, value: cst.Call, call: cst.Call
) -> cst.BaseExpression | None:
    """The expression with what this call gives, where each is read just once."""
    around = tree.function(call)
    if not isinstance(around, cst.FunctionDef):
        return None
    parameters = helper.params.params
    try:
        given = match_arguments(call, [p.name.value for p in parameters])
    except UnknownArguments:
        return None
    loads = tree.resolver.scopes.loads
    read = [n.value for n in walk(value) if isinstance(n, cst.Name) and n in loads]
    names: dict[str, str] = {}
    for parameter in parameters:
        name = parameter.name.value
        node = given.get(name, parameter.default)
        if node is None or read.count(name) > 1:
            return None
        names[name] = tree.code(node)
    scope = tree.resolver.scopes.opened.get(around)
    if scope is None or (set(read) - set(names)) & set(scope.bindings):
        return None  # a global of the helper is something else here
    return substituted(value, names)


class _Written(cst.CSTTransformer):
    def __init__(self) -> None:
        self.calls: dict[cst.CSTNode, cst.BaseExpression] = {}
        self.gone: cst.FunctionDef | None = None

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node is self.gone:
            return cst.RemoveFromParent()
        instead = self.calls.get(original_node)
        if instead is not None:
            return instead.deep_clone()  # type: ignore[return-value]
        return super().on_leave(original_node, updated_node)
