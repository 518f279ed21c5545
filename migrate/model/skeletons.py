"""Code as terms: what its parts are computed of stands where they stood."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..code.tree import walk
from ..names.nodes import children
from .terms import Term, constant, term
from .values import Env, Function, Instance, term_of

__all__ = ["FUNCTION", "code_term", "label"]


def label(node: cst.CSTNode) -> str:
    """What an expression does with its parts."""
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        return type(node.operator).__name__
    if isinstance(node, cst.UnaryOperation):
        return type(node.operator).__name__
    if isinstance(node, cst.Comparison):
        return " ".join(type(one.operator).__name__ for one in node.comparisons)
    if isinstance(node, cst.Attribute):
        return f".{node.attr.value}"
    if isinstance(node, cst.Subscript):
        return f"[{', '.join(_slice(one.slice) for one in node.slice)}]"
    if isinstance(node, cst.FormattedString):
        return "".join(_formatted(node))
    if isinstance(node, (cst.Tuple, cst.List)):
        return "()"
    return type(node).__name__


def _slice(node: cst.BaseSlice) -> str:
    if isinstance(node, cst.Index):
        return "_"
    assert isinstance(node, cst.Slice)
    ends = (node.lower, node.upper, node.step)
    return ":".join("" if one is None else "_" for one in ends)


def _formatted(node: cst.FormattedString) -> Iterator[str]:
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            yield part.value
        else:
            assert isinstance(part, cst.FormattedStringExpression)
            spec = "".join(
                one.value
                for one in part.format_spec or ()
                if isinstance(one, cst.FormattedStringText)
            )
            yield f"{{!{part.conversion or ''}:{spec}}}"


# The kind of what a function within another one says.
FUNCTION = "function"


def code_term(function: Function) -> Term:
    """A function as a value.

    One of a module, or of a class, is known by its name. What another one says is told,
    with what it sees of the function around it.
    """
    node = function.node
    given = [term_of(one) for one in function.args]
    given += [term(f"{name}=", term_of(one)) for name, one in function.keywords]
    if function.env is None or function.owner is not None:
        assert isinstance(node, cst.FunctionDef)
        return term(f"def {node.name.value}", *given)
    bound = {n.name.value for n in walk(node, cst.Param)}
    bound |= {
        one.target.value
        for n in walk(node, cst.Assign)
        for one in n.targets
        if isinstance(one.target, cst.Name)
    }
    return term(
        FUNCTION,
        _code(node.params, function.env, bound),
        *given,
        _code(node.body, function.env, bound),
    )


def _code(node: cst.CSTNode, env: Env, bound: set[str]) -> Term:
    """A piece of code, with the names of functions around it as what they are."""
    if isinstance(node, cst.Name):
        value = None if node.value in bound else env.find(node.value)
        return term(node.value) if value is None else term_of(value)
    if isinstance(node, cst.Attribute):
        root = node.value
        held = env.find(root.value) if isinstance(root, cst.Name) else None
        if isinstance(held, Instance) and node.attr.value in held.attributes:
            return term_of(held.attributes[node.attr.value])
        return term(f".{node.attr.value}", _code(node.value, env, bound))
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return constant(getattr(node, "evaluated_value", node.value))
    parts = [_code(child, env, bound) for child in children(node)]
    return term(type(node).__name__, *parts)
