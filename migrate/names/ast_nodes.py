"""Trees of Python's own parser, made once for each text, and quick walks over them."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache
from typing import Any, TypeVar, overload

# Fields that hold words and numbers, or nodes that many others share.
_NO_NODES = {
    *("arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind"),
    *("kwd_attrs", "level", "module", "name", "op", "ops", "rest", "simple", "tag"),
    *("lineno", "type_comment"),
}
_LEAVES = (ast.Constant, ast.Global, ast.MatchSingleton, ast.Nonlocal)


Kind = TypeVar("Kind", bound=ast.AST)
Other = TypeVar("Other", bound=ast.AST)

# The fields of a class that hold nodes.
_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(node: ast.AST) -> tuple[str, ...]:
    kind = node.__class__
    found = _FIELDS.get(kind)
    if found is None:
        names = () if issubclass(kind, _LEAVES) else kind._fields
        found = _FIELDS[kind] = tuple(one for one in names if one not in _NO_NODES)
    return found


def tree_of(text: str) -> ast.Module:
    """The tree of a module, for reading: who asks for the same text gets the same."""
    return (_tree_of_lines if len(text) < 1000 else _tree_of_file)(text)


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


_tree_of_lines = lru_cache(maxsize=2048)(_tree)
_tree_of_file = lru_cache(maxsize=64)(_tree)


@lru_cache(maxsize=4096)
def expression_of(text: str) -> ast.expr:
    """The tree of an expression, in the same way."""
    return ast.parse(text, mode="eval").body


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one; operators and what says load or store left aside."""
    try:
        return node._below  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        found = node._below = _children(node)  # type: ignore[attr-defined]
        return found


def _children(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for name in _fields(node):
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [one for one in value if one is not None]
        elif value is not None:
            found.append(value)
    return found


@overload
def walk(node: ast.AST) -> list[ast.AST]: ...
@overload
def walk(node: ast.AST, kind: type[Kind], /) -> list[Kind]: ...
@overload
def walk(
    node: ast.AST, kind: type[Kind], other: type[Other], /
) -> list[Kind | Other]: ...
def walk(node: ast.AST, *kinds: type[ast.AST]) -> list[Any]:
    """A node and all below it, those nearer to it first; only some kinds, if given."""
    try:
        below = node._all  # type: ignore[attr-defined]
    except AttributeError:
        below = node._all = [*children(node)]  # type: ignore[attr-defined]
        for one in below:
            below += children(one)
    found = [node, *below]
    return [one for one in found if isinstance(one, kinds)] if kinds else found


def parents_of(root: ast.AST) -> dict[ast.AST, ast.AST]:
    """The node above each one."""
    return {child: node for node in walk(root) for child in children(node)}


def members(node: ast.AST) -> set[str]:
    """Names of what a class defines, and of what its methods give to `self`."""
    found = {
        one.attr
        for one in walk(node, ast.Attribute)
        if isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "self"
    }
    for one in getattr(node, "body", ()):
        if isinstance(one, ast.FunctionDef):
            found.add(one.name)
        elif not isinstance(one, ast.ClassDef):
            found |= {n.id for n in walk(one, ast.Name) if isinstance(n.ctx, ast.Store)}
    return found
