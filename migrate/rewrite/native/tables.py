"""Lookup tables of what is exported: a SavedModel has those that its model holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from ...code.ast_nodes import walk
from .code import Refused
from .text import Text, bound_names, names_in, without_gone

__all__ = ["exports", "with_tables_held"]

_KINDS = ("StaticHashTable", "StaticVocabularyTable")
_Definition = ast.FunctionDef | ast.ClassDef


def exports(text: str) -> bool:
    """Whether a file exports models, as far as its words tell."""
    return bool(re.search(r"Exporter\b|export_saved_?model|export_strateg", text))


def with_tables_held(code: str, tasks: Collection[str]) -> str:
    """A file whose tables for the model are made once, and held by it.

    A function that makes one wherever it is called is right in a graph, and trains;
    the export of a function that captures it fails. Raises Refused where a table is
    made of what only the function knows, or the Task stands in another file.
    """
    if not any(kind in code for kind in _KINDS):
        return code
    text = Text(code)
    held: list[tuple[str, str]] = []
    for top in _reached(text.body):
        for function in (one for one in walk(top) if isinstance(one, ast.FunctionDef)):
            for made in (one for one in walk(function) if _makes_table(one)):
                held.append(_hoist(text, top, function, made))
    for made in (node for top in text.body for node in walk(top) if _is_model(node)):
        assert isinstance(made, ast.Assign)
        lines = [f"self.model.{name} = {table}" for name, table in held]
        text.add(made, *dict.fromkeys(lines), below=True)
    if held and not tasks:
        raise Refused(f"`{held[0][0]}` is a table of a Task in another file")
    return without_gone(text.done())


def _reached(body: list[ast.stmt]) -> Iterator[_Definition]:
    """Classes and receivers of a file, and the functions that these use."""
    found = [one for one in body if isinstance(one, _Definition)]
    pending = [x for x in found if isinstance(x, ast.ClassDef) or x.decorator_list]
    for one in pending:
        names = {name.id for name in names_in(one)}
        pending += [x for x in found if x.name in names and x not in pending]
        yield one


def _makes_table(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Attribute) and node.func.attr in _KINDS
    )


def _is_model(node: ast.AST) -> bool:
    """The statement in which a Task has its model."""
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "self.model"


def _hoist(
    text: Text, top: _Definition, function: ast.FunctionDef, made: ast.AST
) -> tuple[str, str]:
    """Makes a function's table above it; returns its name there and as a constant."""
    assigned = (one for one in function.body if isinstance(one, ast.Assign))
    statement = next((one for one in assigned if one.value is made), None)
    name = ast.unparse(statement.targets[0]) if statement is not None else ""
    table = name.upper()
    taken = {one.id for each in text.body for one in names_in(each)}
    if (
        statement is None
        or not name.isidentifier()
        or table in taken
        or {one.id for one in names_in(made)} & bound_names(function)
    ):
        raise Refused(
            f"`{function.name}` makes a table, which an export would not have"
        )
    for one in names_in(function):
        if one.id == name and one is not statement.targets[0]:
            text.put(one, table)
    text.drop(statement)
    source = text.of(made).replace("\n" + text.indent(statement), "\n")
    text.add(top, f"{table} = {source}", "", "")
    return name, table
