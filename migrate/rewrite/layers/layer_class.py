"""Keras classes that took the place of code which made layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from ...code.spacing import space_definitions, with_blank_lines
from ...code.texts import parse_statements
from ...code.tree import Statement

# Stands for the program's name of TensorFlow.
TF = "__tf__"


@dataclass(frozen=True)
class LayerClass:
    """A Keras class that took the place of code which made layers.

    ``parameters`` are those of ``__init__``, ``arguments`` those of ``call``; ``init``
    and ``call`` are statements.
    """

    name: str
    base: str
    docstring: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    init: tuple[str, ...]
    call: tuple[str, ...]


def class_statement(plan: LayerClass, text: Callable[[str], str]) -> Statement:
    """The class; ``text`` puts the program's names into source text of a plan."""
    made = _function("__init__", ["self", *plan.parameters])
    init = ["super().__init__()\n", *plan.init]
    made = _with_body(made, parse_statements(text("".join(init))))
    call = _with_body(
        _function("call", ["self", *plan.arguments]),
        parse_statements(text("".join(plan.call))),
    )
    code = text(f"class {plan.name}({plan.base}):\n    pass\n")
    (found,) = parse_statements(code)
    docstring = parse_statements(plan.docstring)
    body = space_definitions([*docstring, made, call])
    if not docstring:
        body[0] = with_blank_lines(body[0], 0)
    return _with_body(found, body)


def _function(name: str, parameters: Sequence[str]) -> Statement:
    inside = ", ".join(parameters)
    (found,) = parse_statements(f"def {name}({inside}):\n    pass\n")
    return found


def _with_body(statement: Statement, body: Sequence[Statement]) -> Statement:
    block = statement.body
    assert isinstance(block, cst.IndentedBlock)
    return statement.with_changes(body=block.with_changes(body=list(body)))
