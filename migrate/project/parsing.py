"""LibCST's parser, with what it loses put back.

Of all spaces that Python allows between tokens, LibCST's parser drops those before
the colon of an ``except`` clause (found by putting one between any two tokens of a
program that uses all of the grammar). People write such clauses, and a tree that does
not give back the file cannot be used to edit it.
"""

from __future__ import annotations

import re

import libcst as cst

from ..names.nodes import walk
from .positions import Places

_SPACE = r"(?:[ \t]|\\\r?\n)+"
_SPACED_CLAUSE = re.compile(rf"\bexcept\b[^#]*?{_SPACE}:")
_SPACE_AND_COLON = re.compile(rf"({_SPACE}):")


def parse(code: str | bytes) -> cst.Module:
    """The module of a text; raises what ``libcst.parse_module`` raises."""
    module = cst.parse_module(code)
    text = code if isinstance(code, str) else code.decode(module.encoding)
    if _SPACED_CLAUSE.search(text) is None:
        return module
    mended = _mended(module, text)
    return mended if mended is not None and mended.code == text else module


def _mended(module: cst.Module, text: str) -> cst.Module | None:
    """The module with the spaces of the text, or None if that is not all it lost."""
    found = Places(module)
    code = found.lines.text
    clauses = walk(module, cst.ExceptHandler, cst.ExceptStarHandler)
    starts = sorted((found[clause][0], clause) for clause in clauses)
    spaces: dict[cst.CSTNode, str] = {}
    shift = done = 0
    for number, (start, clause) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(code)
        if code[done:start] != text[done + shift : start + shift]:
            return None
        place = start
        while place < end and code[place] == text[place + shift]:
            place += 1
        done = place
        if place == end:
            continue
        lost = _SPACE_AND_COLON.match(text, place + shift)
        if lost is None or code[place] != ":":
            return None
        spaces[clause] = lost.group(1)
        shift += len(lost.group(1))
    if not spaces:
        return None
    mended = module.visit(_Spaced(spaces))
    assert isinstance(mended, cst.Module)
    return mended


class _Spaced(cst.CSTTransformer):
    """Puts spaces before the colons of clauses."""

    def __init__(self, spaces: dict[cst.CSTNode, str]) -> None:
        super().__init__()
        self.spaces = spaces

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        """Give a clause its spaces."""
        if original_node in self.spaces:
            space = cst.SimpleWhitespace(self.spaces[original_node])
            return updated_node.with_changes(whitespace_before_colon=space)
        return updated_node
