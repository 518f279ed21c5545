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
from .arguments import Argument
from .values import Env, Function, Instance, Symbol, Value, join

if TYPE_CHECKING:
    from .api import Call
    from .calls import Calls
    from .expressions import Expressions

__all__ = ["as_written", "is_outer", "is_setting", "methods_named", "named"]


def named(call: Call) -> Value | None:
    """``getattr(nets, "build_" + kind)``: one of a file, by how its name begins."""
    if len(call.arguments) != 2:
        return None
    place, name = call.arguments
    module = _file_of(call.evaluator, place, call.env)
    ends = _ends(as_written(name.node, call.env.module))
    if module is None or ends is None:
        return None
    found: Value | None = None
    for bound in module.resolver.scopes.module_scope.bindings.items():
        if not (bound[0].startswith(ends[0]) and bound[0].endswith(ends[1])):
            continue
        for one in (binding.node for binding in bound[1]):
            if isinstance(one, cst.FunctionDef):
                value = call.evaluator.defined(one, module, None)
            elif isinstance(one, cst.ClassDef):
                value = Instance(one, module)
            else:
                return None  # It is made, or comes from another file.
            found = join(found, value)
    return None if "import *" in module.source.text else found


def _file_of(evaluator: Calls, place: Argument, env: Env) -> ParsedModule | None:
    """A file of the project as a value: one that is imported, or `sys.modules`' own."""
    node = place.node
    if isinstance(node, cst.Subscript):
        of_all = env.module.resolver.qualified(node.value) == "sys.modules"
        (one, *_) = node.slice
        index = one.slice.value if isinstance(one.slice, cst.Index) else None
        own = isinstance(index, cst.Name) and index.value == "__name__"
        return env.module if of_all and own else None
    if not isinstance(place.value, Symbol):
        return None
    path = evaluator.facts.locate(place.value.name, env.module.path)
    return evaluator.files.get(os.path.abspath(path)) if path is not None else None


def as_written(node: cst.BaseExpression, module: ParsedModule) -> cst.BaseExpression:
    """An expression, or what is set to the name that it is, if that is set once."""
    bound = module.resolver.bindings(node) if isinstance(node, cst.Name) else []
    if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN and bound[0].value:
        return bound[0].value
    return node


def _ends(node: cst.BaseExpression) -> tuple[str, str] | None:
    """How a text begins and ends that is added up, or filled in."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(
        node.operator, cst.Add
    ):
        start = _start_of(node)
        return (start, "") if start and not isinstance(node, cst.SimpleString) else None
    first, last = node.left, node.right
    while isinstance(first, cst.BinaryOperation):
        first = first.left
    ends = [
        str(one.evaluated_value) if isinstance(one, cst.SimpleString) else ""
        for one in (first, last)
    ]
    return (ends[0], ends[1]) if any(ends) else None


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
