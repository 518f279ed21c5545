"""A text parsed again after a change: statements that stay keep their nodes.

A rewrite parses each text it makes, and most statements of it are those of the text
before, at the top or in functions and classes. Python's own parser, which takes a ninth
of the time of LibCST's, tells where they begin and end; LibCST parses the others. The
module is equal to the one that a parse of the whole text gives: where that is not
certain, the whole text is parsed.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ..names.ast_nodes import tree_of, walk
from .parsing import parse

# The parts of a text may not be what they are in the whole, or are no Python.
_UNCERTAIN = (
    *(ValueError, SyntaxError, MemoryError, RecursionError),
    *(cst.ParserSyntaxError, cst.CSTValidationError),
)


@dataclass(frozen=True, eq=False)
class _Piece:
    """A statement with the lines above it, the last one with those below as well.

    ``alone``: it means the same wherever it stands. Not so the first one below comments
    and blank lines, nor those beside comments that are indented in another way, which
    may belong to either. A function or a class has a ``head`` and such pieces.
    """

    text: str
    alone: bool
    indent: str
    head: str
    inner: tuple[_Piece, ...]


_Found = dict[_Piece, Any]


def parse_again(text: str, old_text: str, old: cst.Module) -> cst.Module:
    """What `parse` gives for a text, with nodes of ``old``, which is ``old_text``."""
    try:
        new, before = _pieces(text), _pieces(old_text)
        if _indent(text) != old.default_indent or len(before) != len(old.body):
            raise ValueError
        return _joined(new, _kept(new, [*zip(before, old.body, strict=True)]), old)
    except _UNCERTAIN:
        return parse(text)


def _kept(new: Sequence[_Piece], old: Sequence[tuple[_Piece, Any]]) -> _Found:
    """The nodes that pieces had before, those of functions where these have changed."""
    if not new or not old:
        return {}
    known: dict[str, list[Any]] = {}
    for piece, node in old:
        if piece.alone:
            known.setdefault(piece.text, []).append(node)
    # A statement that occurs twice is two nodes, as ever.
    found = {
        piece: known[piece.text].pop(0)
        for piece in new
        if piece.alone and known.get(piece.text)
    }
    taken = {*found.values()}
    changed = [one for piece in new if piece not in found for one in piece.inner]
    return found | _kept(
        changed,
        [
            pair
            for piece, node in old
            if piece.inner and node not in taken
            for pair in zip(piece.inner, node.body.body, strict=True)
        ],
    )


def _joined(new: Sequence[_Piece], kept: _Found, old: cst.Module) -> cst.Module:
    """The module of pieces, those that have no node parsed together with such."""
    header: Sequence[cst.EmptyLine] = ()
    footer: Sequence[cst.EmptyLine] = ()
    body: list[Any] = []
    for is_kept, run in itertools.groupby(new, lambda one: one in kept):
        pieces = list(run)
        if is_kept:
            body += [kept[piece] for piece in pieces]
            continue
        last = len(body) + len(pieces) == len(new)
        part = parse("".join(_without(piece, kept) for piece in pieces))
        statements: list[Any] = list(part.body)
        plain = all(isinstance(one, cst.SimpleStatementLine) for one in statements)
        if (
            len(statements) != len(pieces)
            or (part.footer and not last)
            or (part.default_indent != old.default_indent and not plain)
        ):
            raise ValueError
        statements = [*map(_filled, statements, pieces, itertools.repeat(kept))]
        if not body:
            header = part.header
        elif part.header:
            lines = [*part.header, *statements[0].leading_lines]
            statements[0] = statements[0].with_changes(leading_lines=lines)
        body += statements
        footer = part.footer
    return old.with_changes(header=header, body=body, footer=footer)


def _without(piece: _Piece, kept: _Found) -> str:
    """The text of a piece with a line in the place of each one inside that is kept."""
    inside = [
        f"{one.indent}pass\n" if one in kept else _without(one, kept)
        for one in piece.inner
    ]
    return piece.head + "".join(inside) if inside else piece.text


def _filled(statement: Any, piece: _Piece, kept: _Found) -> Any:
    """A statement that was parsed without its kept parts, with these."""
    if piece in kept:
        return kept[piece]
    if not piece.inner:
        return statement
    block = statement.body
    if len(block.body) != len(piece.inner):
        raise ValueError
    body = [*map(_filled, block.body, piece.inner, itertools.repeat(kept))]
    return statement.with_changes(body=block.with_changes(body=body))


@functools.lru_cache(maxsize=16)
def _pieces(text: str) -> tuple[_Piece, ...]:
    if "\r" in text or "\f" in text or not text.endswith("\n"):
        raise ValueError
    statements = tree_of(text).body
    if not statements:
        raise ValueError
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    return _cut(lines, statements, 0, len(lines), below=True)


def _cut(
    lines: Sequence[str],
    statements: Sequence[ast.stmt],
    start: int,
    end: int,
    *,
    below: bool,
) -> tuple[_Piece, ...]:
    """The pieces of a block; ``below``: no comment behind it may belong to it."""
    indent = lines[_first(statements[0])][: statements[0].col_offset]
    if indent.strip():  # behind a colon
        return ()
    cuts: list[int] = [start]
    clean: list[bool] = []
    whole: list[ast.stmt] = []
    for statement in statements:
        assert statement.end_lineno is not None
        first = _first(statement)
        if first < cuts[-1]:  # behind a semicolon
            cuts[-1] = statement.end_lineno
            continue
        above = lines[cuts[-1] : first]
        clean.append(all(one == "\n" or one.startswith(f"{indent}#") for one in above))
        cuts.append(statement.end_lineno)
        whole.append(statement)
    before = lines[max(start - 1, 0) : _first(statements[0])]
    clean[0] = all(one.strip()[:1] not in ("", "#") for one in before)
    clean.append(below and cuts[-1] == end)
    cuts[-1] = end
    found: list[_Piece] = []
    for place, statement in enumerate(whole):
        start, end = cuts[place : place + 2]
        head, inner = "", tuple[_Piece, ...]()
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            first = _first(statement.body[0])
            head = "".join(lines[start:first])
            inner = _cut(lines, statement.body, first, end, below=clean[place + 1])
        alone = all(clean[place : place + 2])
        found.append(_Piece("".join(lines[start:end]), alone, indent, head, inner))
    return tuple(found)


def _first(statement: ast.stmt) -> int:
    """The number of its first line, from 0."""
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(one.lineno for one in decorators)]) - 1


def _indent(text: str) -> str:
    """The white space before the first indented block."""
    lines = text.split("\n")
    for statement in tree_of(text).body:
        inside = walk(statement, ast.stmt)[1:]
        for one in sorted(inside, key=lambda one: one.lineno):
            indent = lines[one.lineno - 1][: one.col_offset]
            if indent.isspace():
                return indent
    return " " * 4
