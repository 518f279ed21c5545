"""What names of files stand for: settings, and what is looked up by a computed name."""

from __future__ import annotations

import builtins
import os
import re
from typing import TYPE_CHECKING

import libcst as cst

from ..code.tree import statements_of
from ..names.scopes import BindingKind
from ..project.facts import ParsedModule
from .values import Env, Function, Instance, Value, join

if TYPE_CHECKING:
    from .calls import Calls
    from .expressions import Expressions

__all__ = ["as_written", "is_outer", "is_setting", "methods_named"]


def as_written(node: cst.BaseExpression, module: ParsedModule) -> cst.BaseExpression:
    """An expression, or what is set to the name that it is, if that is set once."""
    bound = module.resolver.bindings(node) if isinstance(node, cst.Name) else []
    if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN and bound[0].value:
        return bound[0].value
    return node


def methods_named(
    evaluator: Calls, holder: Instance, name: cst.BaseExpression
) -> Value | None:
    """The methods of an object whose names begin as a text does that is computed."""
    start = _start_of(name)
    if not start:
        return None
    found: dict[str, Value] = {}
    for one in (holder, *evaluator.bases(holder)):
        body = one.node.body
        for node in statements_of(body) if isinstance(body, cst.IndentedBlock) else ():
            if not isinstance(node, cst.FunctionDef):
                continue
            if node.name.value.startswith(start) and node.name.value not in found:
                method = Function(node, one.module, one.env, owner=holder)
                found[node.name.value] = evaluator.of_method(holder, method)
    value: Value | None = None
    for other in found.values():
        value = join(value, other)
    return value


def _start_of(node: cst.BaseExpression) -> str:
    """What a text begins with: ``"_loss_" + kind``, ``"_loss_%s" % kind``."""
    if isinstance(node, cst.BinaryOperation):
        node = node.left
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    if isinstance(node, cst.SimpleString):
        return re.split(r"[%{]", str(node.evaluated_value))[0]
    if isinstance(node, cst.FormattedString) and node.parts:
        first = node.parts[0]
        return first.value if isinstance(first, cst.FormattedStringText) else ""
    return ""


def is_setting(evaluator: Expressions, dotted: str, env: Env) -> bool:
    """A name of one of the files given, which holds what no call has made."""
    module, _, name = dotted.rpartition(".")
    path = evaluator.facts.locate(module, env.module.path) if module else None
    known = evaluator.files.get(os.path.abspath(path)) if path is not None else None
    if known is None:
        return False
    bound = known.resolver.scopes.module_scope.bindings.get(name, [])
    return bool(bound) and all(
        one.kind is BindingKind.ASSIGN
        and not isinstance(one.value, (cst.Call, type(None)))
        for one in bound
    )


def is_outer(node: cst.Name, module: ParsedModule) -> bool:
    """A name of Python's own, or one that is only imported."""
    bound = module.resolver.bindings(node)
    if not bound:
        return hasattr(builtins, node.value)
    return all(one.kind is BindingKind.IMPORT for one in bound)
