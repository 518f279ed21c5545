"""Fast walks over LibCST trees: code only, no layout.

LibCST's own ``node.children`` visits (and rebuilds) the node to find them, and
its metadata providers visit each node several times; both cost more than the
parse. The fields of a node's class say the same for a tenth of that.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, TypeVar, overload

import libcst as cst

# Fields that hold punctuation or layout: never names.
_LAYOUT_NAMES = """
lpar rpar lbracket rbracket lbrace rbrace comma semicolon equal dot colon first_colon
second_colon leading_lines leading_whitespace lines_after_decorators header footer
trailing_whitespace operator asynchronous indent separator encoding default_indent
default_newline has_trailing_newline star posonly_ind trailing_comma
"""
_LAYOUT = frozenset(_LAYOUT_NAMES.split())

# Classes whose fields are not declared in the order of the source.
_IN_SOURCE: dict[type[cst.CSTNode], str] = {
    cst.Arg: "keyword value",
    cst.ClassDef: "decorators name type_parameters bases keywords body",
    cst.ExceptHandler: "type name body",
    cst.ExceptStarHandler: "type name body",
    cst.FunctionDef: "decorators name type_parameters params returns body",
    cst.IfExp: "body test orelse",
    cst.ImportFrom: "module names",
    cst.MatchCase: "pattern guard body",
    cst.Parameters: "posonly_params params star_arg kwonly_params star_kwarg",
}


@cache
def code_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a node class that can hold code, in source order."""
    ordered = _IN_SOURCE.get(kind)
    if ordered is not None:
        return tuple(ordered.split())
    return tuple(
        f.name
        for f in dataclasses.fields(kind)
        if f.name not in _LAYOUT and not f.name.startswith("whitespace")
    )


@cache
def _fields(kind: type[cst.CSTNode]) -> Callable[[cst.CSTNode], tuple[object, ...]]:
    """What gives the values of those fields at once."""
    names = code_fields(kind)
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda node: ()
    only = attrgetter(*names)
    return lambda node: (only(node),)


# Asking isinstance instead would go through the Python code of ABCMeta.
_NO_NODES = frozenset({bool, int, str, cst.MaybeSentinel, type(None)})


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below, in source order, without layout."""
    found: list[cst.CSTNode] = []
    for child in _fields(node.__class__)(node):
        kind = child.__class__
        if kind is list or kind is tuple:
            found += child  # type: ignore[arg-type]
        elif kind not in _NO_NODES:
            found.append(child)  # type: ignore[arg-type]
    return found


Kind = TypeVar("Kind", bound=cst.CSTNode)
Other = TypeVar("Other", bound=cst.CSTNode)


@overload
def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]: ...
@overload
def walk(node: cst.CSTNode, kind: type[Kind], /) -> Iterator[Kind]: ...
@overload
def walk(
    node: cst.CSTNode, kind: type[Kind], other: type[Other], /
) -> Iterator[Kind | Other]: ...
def walk(node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> Iterator[Any]:
    """The node and the code below it, in source order, without layout.

    Only nodes of some kinds, where these are given.
    """
    wanted = exactly(kinds)
    every = everything(node)
    return iter([one for one in every if one.__class__ in wanted] if kinds else every)


@cache
def exactly(kinds: tuple[type[cst.CSTNode], ...]) -> frozenset[type[cst.CSTNode]]:
    """Classes and those derived of them: asking isinstance costs Python code."""
    below = (one for kind in kinds for one in exactly((*kind.__subclasses__(),)))
    return frozenset((*kinds, *below)) if kinds else frozenset()


class _Kind(ABCMeta):
    """The class of a class of nodes. No other is ever registered as one of these."""

    __instancecheck__ = type.__instancecheck__


# Nodes are equal where they are the same, and of the classes that these are made of.
# LibCST says both in Python code, which took a twentieth of all time.
for _kind in exactly((cst.CSTNode,)):
    _kind.__class__ = _Kind  # type: ignore[assignment]
    _kind.__hash__ = object.__hash__  # type: ignore[method-assign]

# Most statements stay the same nodes when a text is parsed again.
_STATEMENTS = 2048


def everything(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """All that `walk` gives of a module, for `Resolver.about`: many go through it."""
    found: list[cst.CSTNode] = []
    pending = [node]
    while pending:
        current = pending.pop()
        found.append(current)
        if type(current) is cst.Module or type(current) is cst.IndentedBlock:
            for statement in current.body:
                found += _everything(statement)
        else:
            below = children(current)
            below.reverse()
            pending += below
    return tuple(found)


def parents(root: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    """The node above each one below ``root``."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    pending = [root]
    while pending:
        current = pending.pop()
        if type(current) is cst.Module or type(current) is cst.IndentedBlock:
            found.update(dict.fromkeys(current.body, current))
            for statement in current.body:
                found.update(_parents(statement))
        else:
            below = children(current)
            found.update(dict.fromkeys(below, current))
            pending += below
    return found


_everything = lru_cache(maxsize=_STATEMENTS)(everything)
_parents = lru_cache(maxsize=_STATEMENTS)(parents)
