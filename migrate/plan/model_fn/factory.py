"""Functions that return a model_fn: what the model_fn sees of their arguments."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..code.arguments import UnknownArguments, match_arguments
from ..code.statements import is_docstring
from ..code.tree import Tree, only_small, statements_of
from ..sites import Blocked

__all__ = ["Factory", "read_factory"]


@dataclass(frozen=True)
class Factory:
    """``make_model_fn(units=8)``: ``arguments`` are (name, source) pairs."""

    definition: cst.FunctionDef
    model_fn: cst.FunctionDef
    arguments: tuple[tuple[str, str], ...]


def read_factory(tree: Tree, call: cst.Call) -> Factory:
    """The factory behind a call, or Blocked."""
    line = tree.line(call)
    defined = tree.resolver.definition(call.func)
    if not isinstance(defined, cst.FunctionDef) or not isinstance(
        tree.parent(defined), cst.Module
    ):
        raise Blocked("TFM103", line, "the model_fn is defined somewhere else")
    name = defined.name.value
    if len(tree.loads_of(defined)) != 1:
        raise Blocked("TFM103", line, f"`{name}` is used in several places")
    body = defined.body
    assert isinstance(body, cst.IndentedBlock)
    statements = [s for s in statements_of(body) if not is_docstring(s)]
    inner = statements[0] if statements else None
    last = only_small(statements[-1]) if statements else None
    if (
        len(statements) != 2
        or not isinstance(inner, cst.FunctionDef)
        or not isinstance(last, cst.Return)
        or not isinstance(last.value, cst.Name)
        or last.value.value != inner.name.value
    ):
        raise Blocked("TFM103", line, f"`{name}` does more than define a model_fn")
    parameters = defined.params
    if parameters.kwonly_params or parameters.star_kwarg is not None:
        raise Blocked("TFM103", line, f"`{name}` takes star arguments")
    try:
        given = match_arguments(call, [p.name.value for p in parameters.params])
    except UnknownArguments as problem:
        raise Blocked("TFM103", line, f"`{name}` called with {problem}") from None
    arguments = []
    for parameter in parameters.params:
        value = given.get(parameter.name.value, parameter.default)
        if value is None:
            raise Blocked("TFM103", line, f"`{name}` called without an argument")
        arguments.append((parameter.name.value, tree.code(value)))
    return Factory(defined, inner, tuple(arguments))
