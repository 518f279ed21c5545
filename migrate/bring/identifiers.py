"""The words of some code by which a method may be asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

import libcst as cst

from ..symbols.nodes import walk

__all__ = ["identifiers", "mentioned"]

_WORD = re.compile(r"[^\W\d]\w*")


def identifiers(text: str) -> set[str]:
    """Every word of a source text, those of strings and comments included.

    A method whose name is not among them is not called by this file.
    """
    return set(_WORD.findall(text))


def mentioned(node: cst.CSTNode, left_out: Collection[cst.CSTNode]) -> set[str]:
    """Attributes, and strings that are a name, below a node.

    Names read in the body of a class count too: they may be its methods.
    """
    found: set[str] = set()
    for below in walk(node):
        if below in left_out:
            continue
        if isinstance(below, cst.Attribute):
            found.add(below.attr.value)
        elif isinstance(below, cst.SimpleString) and len(below.value) < 80:
            value = ast.literal_eval(below.value)
            if isinstance(value, str) and value.isidentifier():
                found.add(value)
        elif isinstance(below, cst.ClassDef):
            for statement in below.body.body:
                if statement in left_out:
                    continue
                names: list[cst.CSTNode]
                if isinstance(statement, cst.FunctionDef):
                    names = [d for d in statement.decorators if d not in left_out]
                elif isinstance(statement, cst.ClassDef):
                    names = []
                else:
                    names = [statement]
                found |= {
                    name.value
                    for holder in names
                    for name in walk(holder)
                    if isinstance(name, cst.Name)
                }
    return found
