"""Tests and texts that are known while a definition is decorated.

What a decorator makes of a function depends on what it is given; all of that is told by
the source, so one branch is taken and not both, as anywhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from .values import (
    Choice,
    Const,
    Dict,
    Env,
    Function,
    Instance,
    Partial,
    Property,
    Seq,
    Symbol,
    Value,
)

if TYPE_CHECKING:
    from .expressions import Expressions

__all__ = ["decided", "folded"]

# What can be called, and is there.
_CALLABLE = (Choice, Function, Instance, Partial, Symbol)


def decided(evaluator: Expressions, node: cst.BaseExpression, env: Env) -> bool | None:
    """What a test comes to, where that is known."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        inner = decided(evaluator, node.expression, env)
        return None if inner is None else not inner
    if isinstance(node, cst.BooleanOperation):
        sides = [decided(evaluator, one, env) for one in (node.left, node.right)]
        ends = isinstance(node.operator, cst.Or)
        if ends in sides:
            return ends
        return None if None in sides else not ends
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return _compared(evaluator, node, env)
    if isinstance(node, cst.Call):
        return _called(evaluator, node, env)
    return _truth(evaluator.expression(node, env))


def _truth(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, (Seq, Dict)):
        return bool(value.items)
    return True if isinstance(value, (Function, Partial)) else None


def _called(evaluator: Expressions, node: cst.Call, env: Env) -> bool | None:
    """``callable(x)``."""
    callee = evaluator.expression(node.func, env)
    if callee != Symbol("builtins.callable") or len(node.args) != 1:
        return _truth(evaluator.expression(node, env))
    given = evaluator.expression(node.args[0].value, env)
    if isinstance(given, (Const, Dict, Property, Seq)):
        return False
    return True if isinstance(given, _CALLABLE) else None


def _compared(evaluator: Expressions, node: cst.Comparison, env: Env) -> bool | None:
    operator = node.comparisons[0].operator
    left = _plain(evaluator, node.left, env)
    right = _plain(evaluator, node.comparisons[0].comparator, env)
    if isinstance(operator, (cst.Is, cst.IsNot)) and right == Const(None):
        is_there = isinstance(left, (*_CALLABLE, Dict, Seq)) or (
            isinstance(left, Const) and left.value is not None
        )
        if not is_there and left != Const(None):
            return None
        return is_there is isinstance(operator, cst.IsNot)
    if not isinstance(left, Const) or not isinstance(right, Const):
        return None
    if isinstance(operator, cst.Equal):
        return bool(left.value == right.value)
    if isinstance(operator, cst.NotEqual):
        return bool(left.value != right.value)
    one, other = left.value, right.value
    if not isinstance(one, int) or not isinstance(other, int):
        return None
    if isinstance(operator, cst.GreaterThan):
        return one > other
    return one < other if isinstance(operator, cst.LessThan) else None


def _plain(evaluator: Expressions, node: cst.BaseExpression, env: Env) -> Value:
    """A value, where it is the length of something that too."""
    if (
        isinstance(node, cst.Call)
        and len(node.args) == 1
        and evaluator.expression(node.func, env) == Symbol("builtins.len")
    ):
        held = evaluator.expression(node.args[0].value, env)
        if isinstance(held, (Seq, Dict)):
            return Const(len(held.items))
    return evaluator.expression(node, env)


def folded(evaluator: Expressions, node: cst.BaseExpression, env: Env) -> Const | None:
    """A text that is put together of texts that are known, or one of two values."""
    if isinstance(node, cst.BinaryOperation):
        left = evaluator.expression(node.left, env)
        right = evaluator.expression(node.right, env)
        if not isinstance(left, Const) or not isinstance(right, Const):
            return None
        one, other = left.value, right.value
        if not isinstance(one, str) or not isinstance(other, str):
            return None
        if isinstance(node.operator, cst.Add):
            return Const(one + other)
        if isinstance(node.operator, cst.Modulo) and one.count("%") == 1:
            return Const(one.replace("%s", other)) if "%s" in one else None
        return None
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        left = evaluator.expression(node.left, env)
        if isinstance(left, Const):
            found = left if left.value else evaluator.expression(node.right, env)
            return found if isinstance(found, Const) else None
        return None
    if isinstance(node, cst.FormattedString):
        return _formatted(evaluator, node, env)
    return _by_format(evaluator, node, env) if isinstance(node, cst.Call) else None


def _formatted(
    evaluator: Expressions, node: cst.FormattedString, env: Env
) -> Const | None:
    text = ""
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            text += part.value
        elif isinstance(part, cst.FormattedStringExpression):
            value = evaluator.expression(part.expression, env)
            plain = part.conversion is None and part.format_spec is None
            if not plain or not isinstance(value, Const):
                return None
            text += str(value.value)
    return Const(text)


def _by_format(evaluator: Expressions, node: cst.Call, env: Env) -> Const | None:
    """``"_cache_{}".format(function.__name__)``."""
    func = node.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "format":
        return None
    held = evaluator.expression(func.value, env)
    values = [evaluator.expression(one.value, env) for one in node.args]
    if not isinstance(held, Const) or not isinstance(held.value, str):
        return None
    if not all(isinstance(one, Const) for one in values):
        return None
    if any(one.keyword is not None or one.star for one in node.args):
        return None
    given = [one.value for one in values if isinstance(one, Const)]
    try:
        return Const(held.value.format(*given))
    except (IndexError, KeyError, ValueError):
        return None
