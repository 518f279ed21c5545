"""Embeddings that columns share: all layers of a model have one object's tables."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from ...names.ast_nodes import tree_of
from ...names.ast_nodes import walk as walk_ast
from .code import Refused, dotted
from .text import place_of

if TYPE_CHECKING:
    from .classes import Lifted

_LAYERS = ("DenseFeatures", "SequenceFeatures")
_TABLES = "tables"
_SEVERAL = "columns of several models share an embedding"


def share_tables(classes: Sequence[Lifted]) -> None:
    """Hands the tables to what makes layers for columns; raises Refused."""
    known = {one.name: one for one in classes}
    made = {one.name: _calls(one, known) for one in classes}
    layers = {one.name: _calls(one, _LAYERS) for one in classes}
    holders = {name for name, found in layers.items() if found}
    while True:
        above = {n for n, found in made.items() if {_name(c) for c in found} & holders}
        if above <= holders:
            break
        holders |= above
    tops = holders - {_name(call) for found in made.values() for call in found}
    if len(tops) > 1:
        raise Refused(_SEVERAL)
    every = [(known[n], call) for n in holders for call in (*layers[n], *made[n])]
    every = [(one, call) for one, call in every if _name(call) in (*_LAYERS, *holders)]
    plain = all(one.above[call] in one.init.body for one, call in every)
    if plain and len(every) == len(holders):
        return  # a single layer
    for name in holders:
        one = known[name]
        if _TABLES in one.init_names:
            raise Refused(_SEVERAL)
        calls = [call for holder, call in every if holder is one]
        if name in tops:
            first = min((one.top(call) for call in calls), key=place_of)
            one.source.add(first, f"{_TABLES} = Tables()")
        else:
            defaults = one.init.args.defaults
            last: ast.AST = (defaults or one.init.args.args)[-1]
            own = f"{_TABLES}=None" if defaults else _TABLES
            one.source.put(last, f"{one.of(last)}, {own}")
        for call in calls:
            given = f"{_TABLES}={_TABLES}" if _name(call) in holders else _TABLES
            one.source.add_argument(call, given)
        one.take()


def check_tables(texts: Sequence[str]) -> None:
    """Refuses files of which several make tables, or one several times."""
    trees = [tree_of(text) for text in texts]
    making = [
        made.name
        for tree in trees
        for made in walk_ast(tree, ast.ClassDef)
        if any(_has_its_own(call) for call in walk_ast(made, ast.Call))
    ]
    again = (ast.For, ast.ListComp, ast.GeneratorExp, ast.DictComp)
    parts = [*trees, *(n for t in trees for n in walk_ast(t) if isinstance(n, again))]
    calls = [call for part in parts for call in walk_ast(part, ast.Call)]
    names = [_name(call).rpartition(".")[2] for call in calls]
    if len(making) > 1 or any(names.count(name) > 1 for name in making):
        raise Refused(_SEVERAL)


def _has_its_own(call: ast.Call) -> bool:
    return _name(call) == "Tables" or (_name(call) in _LAYERS and len(call.args) < 2)


def _calls(lifted: Lifted, names: Container[str]) -> list[ast.Call]:
    """Calls of some names in the constructor of a class."""
    return [one for one in walk_ast(lifted.init, ast.Call) if _name(one) in names]


def _name(call: ast.Call) -> str:
    return dotted(call.func) or ""
