"""Lookup tables of what is exported: a SavedModel has those that something holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...names.ast_nodes import walk
from .text import Text, names_in

_KINDS = ("StaticHashTable", "StaticVocabularyTable")
_Definition = ast.FunctionDef | ast.ClassDef


def exports(text: str) -> bool:
    """Whether a file exports models, as far as its words tell."""
    return bool(re.search(r"Exporter\b|export_saved_?model|export_strateg", text))


def with_tables_tracked(code: str) -> str:
    """A file that hands the tables of its models to `tracked`, of training.py.

    A function that makes a table where it is called is right in a graph, and trains;
    the export of what captures the table fails where nothing holds it.
    """
    if not any(kind in code for kind in _KINDS):
        return code
    text = Text(code)
    for top in _reached(text.body):
        for made in (one for one in walk(top) if _makes_table(one)):
            text.put(made, f"tracked({text.of(made)})")
    return text.done()


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
