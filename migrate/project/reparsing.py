"""A text parsed again after a change: statements that stay keep their nodes.

A rewrite parses each text it makes, and most top-level statements of it are those of
the text before. Python's own parser, which takes a ninth of the time of LibCST's, tells
where they begin and end; LibCST parses the others. The module is equal to the one that
a parse of the whole text gives: where that is not certain, the whole text is parsed.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from ..names.ast_nodes import tree_of
from .parsing import parse


class _Uncertain(Exception):
    """The parts of a text may not be what they are in the whole."""


@dataclass(frozen=True)
class _Pieces:
    """A text by its top-level statements: each with the lines above it.

    ``alone`` are those that mean the same wherever they stand. The first has the
    module's header above it. Comments that are indented may belong to the block above.
    """

    texts: tuple[str, ...]
    alone: tuple[bool, ...]
    below: str
    indent: str


def parse_again(text: str, old_text: str, old: cst.Module) -> cst.Module:
    """What `parse` gives for a text, with nodes of ``old``, which is ``old_text``."""
    try:
        return _joined(_pieces(text), _pieces(old_text), old)
    except (_Uncertain, cst.ParserSyntaxError, cst.CSTValidationError, RecursionError):
        return parse(text)


def _joined(new: _Pieces, before: _Pieces, old: cst.Module) -> cst.Module:
    if len(old.body) != len(before.texts) or new.indent != old.default_indent:
        raise _Uncertain
    known: dict[str, list[cst.CSTNode]] = {}
    for piece, alone, statement in zip(
        before.texts, before.alone, old.body, strict=True
    ):
        if alone:
            known.setdefault(piece, []).append(statement)
    # A statement that occurs twice is two nodes, as ever.
    kept = [
        known[piece].pop(0) if alone and known.get(piece) else None
        for piece, alone in zip(new.texts, new.alone, strict=True)
    ]
    header: Sequence[cst.EmptyLine] = ()
    footer: Sequence[cst.EmptyLine] = ()
    body: list[cst.CSTNode] = []
    for start, end in _runs(kept):
        body += [one for one in kept[len(body) : start] if one is not None]
        last = end == len(kept)
        chunk = "".join(new.texts[start:end]) + (new.below if last else "")
        made = parse(chunk)
        if len(made.body) != end - start:
            raise _Uncertain
        blocks = any(not isinstance(one, cst.SimpleStatementLine) for one in made.body)
        if blocks and made.default_indent != new.indent:
            raise _Uncertain
        statements = list(made.body)
        if start == 0:
            header = made.header
        elif made.header:
            first = statements[0]
            lines = [*made.header, *first.leading_lines]
            statements[0] = first.with_changes(leading_lines=lines)
        body += statements
        if last:
            footer = made.footer
        elif made.footer:
            raise _Uncertain
    body += [one for one in kept[len(body) :] if one is not None]
    return old.with_changes(header=header, body=body, footer=footer)


def _runs(kept: Sequence[cst.CSTNode | None]) -> Iterator[tuple[int, int]]:
    """Where statements without a node stand together."""
    start = None
    for place, node in enumerate(kept):
        if node is None and start is None:
            start = place
        elif node is not None and start is not None:
            yield start, place
            start = None
    if start is not None:
        yield start, len(kept)


@functools.lru_cache(maxsize=16)
def _pieces(text: str) -> _Pieces:
    if "\r" in text or "\f" in text or not text.endswith("\n"):
        raise _Uncertain
    try:
        statements = tree_of(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _Uncertain from None
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    ends: list[int] = []
    clean: list[bool] = []
    for statement in statements:
        decorators = getattr(statement, "decorator_list", ())
        first = min(one.lineno for one in (statement, *decorators))
        assert statement.end_lineno is not None
        done = ends[-1] if ends else 0
        if ends and first <= done:
            ends[-1] = statement.end_lineno  # behind a semicolon
            continue
        ends.append(statement.end_lineno)
        clean.append(all(line[0] in "\n#" for line in lines[done : first - 1]))
    if not ends:
        raise _Uncertain
    clean[0] = False
    starts = [0, *ends[:-1]]
    below = "".join(lines[ends[-1] :])
    return _Pieces(
        tuple(
            "".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)
        ),
        tuple(
            here and after
            for here, after in zip(clean, [*clean[1:], not below], strict=True)
        ),
        below,
        _first_indent(statements, lines) or "    ",
    )


def _first_indent(statements: Sequence[ast.stmt], lines: Sequence[str]) -> str | None:
    """The white space before the first statement of the first indented block."""
    for statement in statements:
        for block in _blocks(statement):
            first = block[0]
            before = lines[first.lineno - 1][: first.col_offset]
            if not before:  # an `elif`
                before = _first_indent(block, lines) or ""
            continued = lines[first.lineno - 2].endswith("\\\n")
            if before and not before.strip() and not continued:
                return before
    return None


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in the order of the source."""
    handlers = (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
    found = [
        getattr(holder, name, None)
        for holder in (statement, *handlers)
        for name in ("body", "orelse", "finalbody")
    ]
    return sorted((one for one in found if one), key=lambda one: one[0].lineno)
