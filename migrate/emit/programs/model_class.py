"""The last touches to a generated model class."""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import Statement, statements_of
from ..module.layout import fit
from ..module.spacing import space_definitions
from ..module.template import parse_statements

__all__ = ["finished_class"]


def finished_class(
    module: cst.Module, made: Statement, docstring: str | None
) -> Statement:
    """The class with blank lines, the author's docstring and lines that fit."""
    assert isinstance(made.body, cst.IndentedBlock)
    inner = space_definitions(statements_of(made.body), top_level=False)
    if docstring is not None:
        inner[0] = parse_statements(docstring)[0]
    made = made.with_changes(body=made.body.with_changes(body=inner))
    return fit(module, [made], 0)[0]
