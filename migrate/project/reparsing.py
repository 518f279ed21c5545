"""A text parsed again after a change: top-level statements that stay keep their nodes.

A rewrite parses each text it makes, and most top-level statements of it are those of
the text before. Python's own parser, which takes a ninth of the time of LibCST's, tells
where they begin and end; LibCST parses the others. The module is equal to the one that
a parse of the whole text gives: where that is not certain, the whole text is parsed.
"""

from __future__ import annotations

import functools
import io
import itertools
import tokenize
from collections.abc import Sequence
from typing import Any, NamedTuple

import libcst as cst

from ..names.ast_nodes import tree_of
from .parsing import parse


class _Uncertain(Exception):
    """The parts of a text may not be what they are in the whole."""


class _Piece(NamedTuple):
    """A statement with the lines above it, the last one with those below as well.

    ``alone``: it means the same wherever it stands. Not so the first one, which has
    the header above it, nor those beside indented comments, which may belong to either.
    """

    text: str
    alone: bool


def parse_again(text: str, old_text: str, old: cst.Module) -> cst.Module:
    """What `parse` gives for a text, with nodes of ``old``, which is ``old_text``."""
    try:
        new, before = _pieces(text), _pieces(old_text)
        if _indent(text) != old.default_indent or len(before) != len(old.body):
            raise _Uncertain
        known: dict[_Piece, list[Any]] = {}
        for piece, node in zip(before, old.body, strict=True):
            known.setdefault(piece, []).append(node)
        # A statement that occurs twice is two nodes, as ever.
        kept = [
            (piece, known[piece].pop(0) if piece.alone and known.get(piece) else None)
            for piece in new
        ]
        return _joined(kept, old)
    except (_Uncertain, cst.ParserSyntaxError, cst.CSTValidationError, RecursionError):
        return parse(text)


def _joined(kept: Sequence[tuple[_Piece, Any]], old: cst.Module) -> cst.Module:
    """The module of pieces, those that have no node parsed together with such."""
    header: Sequence[cst.EmptyLine] = ()
    footer: Sequence[cst.EmptyLine] = ()
    body: list[Any] = []
    for is_new, run in itertools.groupby(kept, lambda one: one[1] is None):
        pieces = list(run)
        if not is_new:
            body += [node for _, node in pieces]
            continue
        last = len(body) + len(pieces) == len(kept)
        part = parse("".join(piece.text for piece, _ in pieces))
        statements: list[Any] = list(part.body)
        plain = all(isinstance(one, cst.SimpleStatementLine) for one in statements)
        if (
            len(statements) != len(pieces)
            or (part.footer and not last)
            or (part.default_indent != old.default_indent and not plain)
        ):
            raise _Uncertain
        if not body:
            header = part.header
        elif part.header:
            lines = [*part.header, *statements[0].leading_lines]
            statements[0] = statements[0].with_changes(leading_lines=lines)
        body += statements
        footer = part.footer
    return old.with_changes(header=header, body=body, footer=footer)


@functools.lru_cache(maxsize=16)
def _pieces(text: str) -> Sequence[_Piece]:
    if "\r" in text or "\f" in text or not text.endswith("\n"):
        raise _Uncertain
    try:
        statements = tree_of(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _Uncertain from None
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    cuts: list[int] = [0]
    clean: list[bool] = []
    for statement in statements:
        assert statement.end_lineno is not None
        decorators = getattr(statement, "decorator_list", ())
        first = min(one.lineno for one in (statement, *decorators)) - 1
        if first < cuts[-1]:  # behind a semicolon
            cuts[-1] = statement.end_lineno
            continue
        clean.append(all(line[0] in "\n#" for line in lines[cuts[-1] : first]))
        cuts.append(statement.end_lineno)
    if not clean:
        raise _Uncertain
    clean[0] = False
    clean.append(cuts[-1] == len(lines))
    cuts[-1] = len(lines)
    return [
        _Piece("".join(lines[start:end]), all(clean[place : place + 2]))
        for place, (start, end) in enumerate(itertools.pairwise(cuts))
    ]


def _indent(text: str) -> str:
    """The white space before the first indented block."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.INDENT:
            return token.string
    return " " * 4
