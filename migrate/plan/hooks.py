"""Hooks: which of them can become plain callbacks of a step."""

from __future__ import annotations

import libcst as cst

from .program import HookPlan
from .sites import Blocked
from .tree import Tree, walk

__all__ = ["HOOK_BASES", "LIFECYCLE", "read_hooks"]

HOOK_BASES = ("tf.train.SessionRunHook", "tf.estimator.SessionRunHook")

# Method of SessionRunHook -> the parameters after self that stand for a session.
LIFECYCLE = {
    "begin": 0,
    "before_run": 1,
    "after_run": 2,
    "end": 1,
}


def read_hooks(
    tree: Tree, node: cst.BaseExpression | None
) -> list[tuple[HookPlan, cst.ClassDef]]:
    """The hooks of a call; only user classes without sessions are understood."""
    value = tree.value(node)
    if value is None or (isinstance(value, cst.Name) and value.value == "None"):
        return []
    line = tree.line(value)
    if not isinstance(value, (cst.List, cst.Tuple)):
        raise Blocked("TFM116", line, "hooks are not given as a plain list")
    found = []
    for element in value.elements:
        if isinstance(element, cst.StarredElement):
            raise Blocked("TFM116", line, "hooks with a starred list")
        found.append(_hook(tree, element.value))
    return found


def _hook(tree: Tree, node: cst.BaseExpression) -> tuple[HookPlan, cst.ClassDef]:
    made = tree.value(node)
    line = tree.line(node)
    defined = (
        tree.resolver.definition(made.func) if isinstance(made, cst.Call) else None
    )
    if not isinstance(defined, cst.ClassDef):
        symbol = tree.symbol(made.func) if isinstance(made, cst.Call) else None
        shown = symbol or tree.code(node)
        raise Blocked("TFM116", line, f"no loop equivalent yet for the hook `{shown}`")
    methods = check_hook_class(tree, defined)
    return HookPlan(tree.code(node), defined.name.value, methods), defined


def check_hook_class(tree: Tree, defined: cst.ClassDef) -> tuple[str, ...]:
    """Names of the lifecycle methods of a class that can become a callback."""
    line = tree.line(defined)
    name = defined.name.value
    bases = [tree.symbol(base.value) for base in defined.bases]
    if len(bases) != 1 or bases[0] not in HOOK_BASES:
        raise Blocked("TFM116", line, f"`{name}` is not a plain SessionRunHook")
    methods = []
    for statement in defined.body.body:
        if not isinstance(statement, cst.FunctionDef):
            continue
        method = statement.name.value
        if method == "after_create_session":
            raise Blocked("TFM116", line, f"`{name}` works on the new session")
        if method not in LIFECYCLE:
            continue
        _check_method(tree, name, statement)
        methods.append(method)
    return tuple(methods)


def _check_method(tree: Tree, owner: str, method: cst.FunctionDef) -> None:
    line = tree.line(method)
    shown = f"`{owner}.{method.name.value}`"
    parameters = method.params.params
    if (
        len(parameters) != LIFECYCLE[method.name.value] + 1
        or method.params.kwonly_params
        or isinstance(method.params.star_arg, cst.Param)
        or method.params.star_kwarg is not None
    ):
        raise Blocked("TFM116", line, f"{shown} has an unusual signature")
    session_names = {p.name.value for p in parameters[1:]}
    loads = tree.resolver.scopes.loads
    for node in walk(method.body):
        if node in loads and isinstance(node, cst.Name) and node.value in session_names:
            raise Blocked("TFM116", tree.line(node), f"{shown} uses its session")
        if isinstance(node, cst.Name) and node.value == "super":
            raise Blocked("TFM116", tree.line(node), f"{shown} calls its base class")
        if isinstance(node, cst.Return) and node.value is not None:
            raise Blocked("TFM116", tree.line(node), f"{shown} asks for fetches")
