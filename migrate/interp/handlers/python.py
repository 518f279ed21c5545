"""Python's own functions, and those of its library that take functions."""

from __future__ import annotations

from ..arguments import Argument, element_of
from ..values import Config, Const, Function, Tensor, Time, Value
from . import Call, handles


@handles("builtins.")
def builtin(call: Call) -> Value:
    """A function that is known as late as its arguments."""
    return Tensor() if call.time is Time.GRAPH else Config(call.time is Time.MODE)


@handles("builtins.isinstance", "builtins.callable", "builtins.hasattr")
def question(call: Call) -> Value:
    """Whether a tensor is there, or of what kind, is known before the graph is."""
    return Config(call.time is not Time.SETUP)


@handles("builtins.print", "builtins.super", "builtins.open")
def nothing(call: Call) -> Value:
    """A call without a value."""
    return Const(None) if call.symbol.endswith("print") else Config()


@handles("builtins.map")
def mapped(call: Call) -> Value:
    """A function that is called on each element."""
    if len(call.arguments) < 2:
        return Config()
    function, *rest = call.arguments
    given = [Argument(element_of(one.value), one.node) for one in rest]
    return call.evaluator.call(function.value, call.node, given, call.env)


@handles("functools.partial")
def partial(call: Call) -> Value:
    """A function with some of its arguments."""
    if not call.arguments or any(one.star for one in call.arguments):
        return call.unknown("a partial whose arguments are not written out")
    function, *rest = call.arguments
    if not isinstance(function.value, Function):
        return function.value
    known = function.value
    plain = tuple(one.value for one in rest if one.keyword is None)
    named = tuple((one.keyword, one.value) for one in rest if one.keyword is not None)
    return Function(
        known.node,
        known.module,
        known.env,
        (*known.args, *plain),
        (*known.keywords, *named),
        known.owner,
    )
