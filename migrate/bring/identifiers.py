"""The words of some code by which a method may be asked for."""

from __future__ import annotations

import ast
import re

import libcst as cst

from ..symbols.nodes import walk

__all__ = ["identifiers", "mentioned", "named_in_class"]

_WORD = re.compile(r"[^\W\d]\w*")


def identifiers(text: str) -> set[str]:
    """Every word of a source text, those of strings and comments included.

    A method whose name is not among them is not called by this file.
    """
    return set(_WORD.findall(text))


def mentioned(node: cst.CSTNode) -> set[str]:
    """Attributes, and strings that are a name, below a node.

    Names read in the body of a class count too: they may be its methods.
    """
    found: set[str] = set()
    for below in walk(node):
        kind = below.__class__
        if kind is cst.Attribute:
            found.add(below.attr.value)  # type: ignore[attr-defined]
        elif kind is cst.SimpleString:
            text: str = below.value  # type: ignore[attr-defined]
            value = ast.literal_eval(text) if len(text) < 80 else ""
            if isinstance(value, str) and value.isidentifier():
                found.add(value)
        elif kind is cst.ClassDef:
            for statement in below.body.body:  # type: ignore[attr-defined]
                found |= named_in_class(statement)
    return found


def named_in_class(statement: cst.CSTNode) -> set[str]:
    """The names that a statement of a class body reads in that body."""
    holders: list[cst.CSTNode] = [statement]
    if isinstance(statement, cst.FunctionDef):
        holders = [*statement.decorators]
    elif isinstance(statement, cst.ClassDef):
        holders = []
    return {
        name.value
        for holder in holders
        for name in walk(holder)
        if isinstance(name, cst.Name)
    }
