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
    Partial,
    Seq,
    Tensor,
    Time,
    Value,
    join,
    latest,
    time_of,
    with_term,
)

__all__ = [
    "Argument", "Mismatch", "bound", "element_of", "last_positional", "parameters_of",
    "with_partial", "written_out",
]  # fmt: skip


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


def parameters_of(
    parameters: cst.Parameters, *, stars: bool = False
) -> list[cst.Param]:
    """The parameters of a function, if need be with those that take all others."""
    rest = (parameters.star_arg, parameters.star_kwarg) if stars else ()
    return [
        *parameters.posonly_params,
        *parameters.params,
        *parameters.kwonly_params,
        *(one for one in rest if isinstance(one, cst.Param)),
    ]


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


def last_positional(arguments: Sequence[Argument]) -> Argument | None:
    """The last argument of a call that is given by its place."""
    plain = [one for one in arguments if one.keyword is None and one.star != "**"]
    return plain[-1] if plain else None


def written_out(arguments: Sequence[Argument]) -> list[Argument]:
    """Arguments, and in the places of stars what these stand for, where it is seen."""
    found: list[Argument] = []
    for one in arguments:
        if one.star == "*" and isinstance(one.value, Seq):
            found += [Argument(value, one.node) for value in one.value.items]
        elif one.star == "**" and isinstance(one.value, Dict):
            found += [Argument(v, one.node, str(k)) for k, v in one.value.items]
        else:
            found.append(one)
    return found


def with_partial(callee: Partial, arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments of a call with those that its function has already."""
    plain = [one for one in arguments if one.keyword is None and one.star != "**"]
    named = [one for one in arguments if one not in plain]
    said = {one.keyword for one in named if one.keyword}
    known = [one for one in callee.arguments if one.keyword not in said]
    merged = [*plain, *known] if callee.behind else [*known, *plain]
    return [
        *(one for one in merged if one.keyword is None and one.star != "**"),
        *(one for one in merged if one.keyword or one.star == "**"),
        *named,
    ]
