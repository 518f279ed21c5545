"""Arguments of a call, matched to the parameters of a known signature."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from .tree import Tree

__all__ = ["UnknownArguments", "is_none", "match_arguments", "may_be_none"]


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


def is_none(node: cst.BaseExpression | None) -> bool:
    """The argument is absent or the literal None."""
    return node is None or (isinstance(node, cst.Name) and node.value == "None")


_PATH_MAKERS = (
    "os.path.join",
    "tempfile.mkdtemp",
    "os.path.expanduser",
    "os.path.abspath",
    "int",
    "str",
)


def may_be_none(tree: Tree, node: cst.BaseExpression | None) -> bool:
    """False when the expression surely gives a number or a non-empty path."""
    value = tree.value(node)
    if isinstance(
        value,
        (
            cst.Integer,
            cst.Float,
            cst.SimpleString,
            cst.FormattedString,
            cst.ConcatenatedString,
            cst.BinaryOperation,
        ),
    ):
        return False
    if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or):
        return may_be_none(tree, value.right)
    if isinstance(value, cst.Call):
        named = tree.resolver.qualified(value.func)
        plain = value.func.value if isinstance(value.func, cst.Name) else None
        return named not in _PATH_MAKERS and plain not in _PATH_MAKERS
    return True
