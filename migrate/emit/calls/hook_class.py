"""Turns a SessionRunHook subclass into a plain callback of the loop."""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import Statement, Tree, only_small, statements_of
from ...plan.hooks.fetches import read_fetches
from ..module.edits import Edits
from ..module.template import parse_statements

__all__ = ["RENAMED", "edit_hook_class"]

# Method of the hook -> method of the callback and its parameters after self.
RENAMED: dict[str, tuple[str, tuple[str, ...]]] = {
    "begin": ("begin", ()),
    "before_run": ("before_step", ("step",)),
    "after_run": ("after_step", ("step", "loss")),
    "end": ("end", ()),
}


def edit_hook_class(tree: Tree, owner: cst.ClassDef, edits: Edits) -> None:
    """Note the edits that make a class a callback of a loop's steps."""
    found = read_fetches(tree, owner)
    for statement in found.gone:
        edits.replace[statement] = []
    for node, code in found.values.items():
        edits.expressions[node] = cst.parse_expression(code)
    for statement in found.stops:
        edits.replace[statement] = parse_statements("self.should_stop = True\n")
    for method in found.emptied:
        edits.replace[method] = []
    edits.nodes[owner] = _ToCallback(stops=bool(found.stops))


class _ToCallback:
    """The class without its base, its methods under the callback's names."""

    def __init__(self, *, stops: bool) -> None:
        self.stops = stops

    def __call__(self, node: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(node, cst.ClassDef)
        body = node.body
        assert isinstance(body, cst.IndentedBlock)
        statements: list[Statement] = [
            _renamed(s)
            if isinstance(s, cst.FunctionDef) and s.name.value in RENAMED
            else s
            for s in statements_of(body)
        ]
        if self.stops:
            first = int(bool(statements) and _is_docstring(statements[0]))
            flag = parse_statements("should_stop = False\n")
            if first:
                blank = cst.EmptyLine(indent=False)
                flag[0] = flag[0].with_changes(leading_lines=[blank])
            statements[first:first] = flag
        return node.with_changes(
            bases=[],
            lpar=cst.MaybeSentinel.DEFAULT,
            rpar=cst.MaybeSentinel.DEFAULT,
            body=body.with_changes(body=statements),
        )


def _is_docstring(statement: Statement) -> bool:
    small = only_small(statement)
    return isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)


def _renamed(method: cst.FunctionDef) -> cst.FunctionDef:
    name, parameters = RENAMED[method.name.value]
    kept = method.params.params[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    added = [cst.Param(cst.Name(parameter)) for parameter in parameters]
    return method.with_changes(
        name=cst.Name(name),
        params=cst.Parameters(params=[kept, *added]),
    )
