"""Turns a SessionRunHook subclass into a plain callback of the loop."""

from __future__ import annotations

import libcst as cst

__all__ = ["RENAMED", "to_callback"]

# Method of the hook -> method of the callback and its parameters after self.
RENAMED = {
    "begin": ("begin", ()),
    "before_run": ("before_step", ("step",)),
    "after_run": ("after_step", ("step", "loss")),
    "end": ("end", ()),
}


def to_callback(node: cst.CSTNode) -> cst.CSTNode:
    """The class without its base, its methods under the callback's names."""
    assert isinstance(node, cst.ClassDef)
    body = node.body
    assert isinstance(body, cst.IndentedBlock)
    statements = [
        _renamed(s) if isinstance(s, cst.FunctionDef) and s.name.value in RENAMED else s
        for s in body.body
    ]
    return node.with_changes(
        bases=[],
        lpar=cst.MaybeSentinel.DEFAULT,
        rpar=cst.MaybeSentinel.DEFAULT,
        body=body.with_changes(body=statements),
    )


def _renamed(method: cst.FunctionDef) -> cst.FunctionDef:
    name, parameters = RENAMED[method.name.value]
    kept = method.params.params[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    added = [cst.Param(cst.Name(parameter)) for parameter in parameters]
    return method.with_changes(
        name=cst.Name(name),
        params=cst.Parameters(params=[kept, *added]),
    )
