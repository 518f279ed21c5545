"""``head.logits_dimension`` as the number that it is, before a program is read."""

from __future__ import annotations

import libcst as cst

from ..code.statements import is_docstring
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from .heads import head_call, units_of

__all__ = ["with_head_units"]

_NAME = "logits_dimension"


def with_head_units(tree: Tree) -> cst.Module | None:
    """The module with numbers in place of heads' dimensions, or None without any.

    Functions that only return a head's dimension go with their last call.
    """
    found: dict[cst.CSTNode, str] = {}
    helpers: dict[cst.FunctionDef, list[cst.Name]] = {}
    for node in walk(tree.module):
        if isinstance(node, cst.Attribute) and node.attr.value == _NAME:
            head = head_call(tree, node.value)
            units = None if head is None else units_of(tree, head)
            if units is not None:
                found[node] = units
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
            helper = _helper(tree, node)
            head = head_call(tree, node.args[0].value) if helper is not None else None
            units = None if head is None else units_of(tree, head)
            if helper is not None and units is not None:
                found[node] = units
                helpers.setdefault(helper, []).append(node.func)
    if not found:
        return None
    gone = {
        helper
        for helper, calls in helpers.items()
        if len(tree.loads(helper.name.value)) == len(calls)
    }
    changed = tree.module.visit(_Numbers(found, gone))
    assert isinstance(changed, cst.Module)
    return changed


def _helper(tree: Tree, call: cst.Call) -> cst.FunctionDef | None:
    """``def head_units(head): return head.logits_dimension``."""
    defined = tree.resolver.definition(call.func)
    if not isinstance(defined, cst.FunctionDef) or len(call.args) != 1:
        return None
    body = defined.body
    if not isinstance(body, cst.IndentedBlock) or len(defined.params.params) != 1:
        return None
    statements: list[Statement] = [
        s for s in statements_of(body) if not is_docstring(s)
    ]
    last = only_small(statements[0]) if len(statements) == 1 else None
    value = last.value if isinstance(last, cst.Return) else None
    if (
        isinstance(value, cst.Attribute)
        and value.attr.value == _NAME
        and isinstance(value.value, cst.Name)
        and value.value.value == defined.params.params[0].name.value
    ):
        return defined
    return None


class _Numbers(cst.CSTTransformer):
    def __init__(
        self, found: dict[cst.CSTNode, str], gone: set[cst.FunctionDef]
    ) -> None:
        self.found = found
        self.gone = gone

    def on_leave(self, original_node, updated_node):  # type: ignore[no-untyped-def]
        """Put the number in, or take the function out."""
        if original_node in self.found:
            return cst.parse_expression(self.found[original_node])
        if original_node in self.gone:
            return cst.RemoveFromParent()
        return super().on_leave(original_node, updated_node)
