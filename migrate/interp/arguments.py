"""The arguments of a call, and the parameters that they are given to."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from .terms import term
from .values import (
    Argument,
    Config,
    Const,
    Dict,
    Each,
    Seq,
    Tensor,
    Time,
    Value,
    join,
    latest,
    time_of,
    with_term,
)

__all__ = ["Argument", "Mismatch", "bound"]


class Mismatch(Exception):
    """A call that does not fit the function, as far as can be told."""


def bound(
    parameters: cst.Parameters,
    positional: Sequence[Value],
    keywords: Sequence[tuple[str, Value]],
    *,
    defaults: dict[str, Value],
) -> dict[str, Value]:
    """The values of a function's parameters in one call."""
    names = [one.name.value for one in (*parameters.posonly_params, *parameters.params)]
    only = [one.name.value for one in parameters.kwonly_params]
    found = dict(zip(names, positional, strict=False))
    rest = tuple(positional[len(names) :])
    if isinstance(parameters.star_arg, cst.Param):
        found[parameters.star_arg.name.value] = Seq(rest)
    elif rest:
        raise Mismatch("more arguments than parameters")
    more: list[tuple[object, Value]] = []
    for name, value in keywords:
        if name in found:
            raise Mismatch(f"`{name}` is given twice")
        if name in names or name in only:
            found[name] = value
        elif parameters.star_kwarg is not None:
            more.append((name, value))
        else:
            raise Mismatch(f"it has no parameter `{name}`")
    if parameters.star_kwarg is not None:
        found[parameters.star_kwarg.name.value] = Dict(tuple(more))
    for name in (*names, *only):
        if name not in found:
            if name not in defaults:
                raise Mismatch(f"`{name}` is not given")
            found[name] = defaults[name]
    return found


def element_of(value: Value) -> Value:
    """What a loop over a value gives in each round."""
    found = _element_of(value)
    if value.term is None or found.term is not None:
        return found
    return with_term(found, term("element", value.term))


def _element_of(value: Value) -> Value:
    if isinstance(value, Each):
        return value.item
    if isinstance(value, Seq) and value.items:
        found = value.items[0]
        for item in value.items[1:]:
            found = join(found, item)
        return found
    if isinstance(value, Dict) and value.items:
        return Config()
    if isinstance(value, Const) and isinstance(value.value, str):
        return Config()
    time = latest([value])
    if time is Time.GRAPH and time_of(value) is Time.GRAPH:
        return Tensor()
    return Config(time is Time.MODE)
