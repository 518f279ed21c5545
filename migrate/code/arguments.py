"""Arguments of a call, matched to the parameters of a known signature."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst


class UnknownArguments(ValueError):
    """The call cannot be matched: star arguments or names nobody knows."""


def match_arguments(
    call: cst.Call, parameters: Sequence[str]
) -> dict[str, cst.BaseExpression]:
    """Parameter name -> argument, for the arguments that are given.

    Raises UnknownArguments rather than guess: a wrong guess about a batch size
    is worse than a program left alone.
    """
    found: dict[str, cst.BaseExpression] = {}
    for index, argument in enumerate(call.args):
        if argument.star:
            raise UnknownArguments(f"`{argument.star}` arguments")
        if argument.keyword is not None:
            name = argument.keyword.value
            if name not in parameters:
                raise UnknownArguments(f"argument `{name}`")
        elif index < len(parameters):
            name = parameters[index]
        else:
            raise UnknownArguments("more arguments than expected")
        found[name] = argument.value
    return found


def values_given(
    call: cst.Call, params: Sequence[cst.Param]
) -> dict[str, cst.BaseExpression] | None:
    """Parameter name -> what a call gives it, or its default; None if none can tell."""
    try:
        given = match_arguments(call, [one.name.value for one in params])
    except UnknownArguments:
        return None
    return {one.name.value: one.default for one in params if one.default} | given


def entries_of(
    node: cst.BaseExpression | None,
) -> dict[str, cst.BaseExpression] | None:
    """The entries of a dict that is written out, if all of its keys are texts."""
    if not isinstance(node, cst.Dict):
        return None
    found: dict[str, cst.BaseExpression] = {}
    for one in node.elements:
        key = one.key if isinstance(one, cst.DictElement) else None
        text = key.evaluated_value if isinstance(key, cst.SimpleString) else None
        if not isinstance(text, str):
            return None
        found[text] = one.value
    return found


def is_none(node: cst.BaseExpression | None) -> bool:
    """The argument is absent or the literal None."""
    return node is None or (isinstance(node, cst.Name) and node.value == "None")
