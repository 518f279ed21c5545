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
from typing import Any

import libcst as cst

from ..names.ast_nodes import tree_of
from .parsing import parse


class _Uncertain(Exception):
    """The parts of a text may not be what they are in the whole."""


@dataclass(frozen=True)
class _Pieces:
    """A block by its statements: each with the lines above it.

    ``alone`` are those that mean the same wherever they stand in it. The first of a
    module has its header above it. Comments that are indented otherwise than the block
    may belong to a statement above.
    """

    lines: Sequence[str]
    statements: tuple[ast.stmt, ...]
    texts: tuple[str, ...]
    alone: tuple[bool, ...]
    below: str
    # White space before the statements of the blocks around it, and before its own.
    indents: tuple[str, ...]


_Lines = Sequence[cst.EmptyLine]


def parse_again(text: str, old_text: str, old: cst.Module) -> cst.Module:
    """What `parse` gives for a text, with nodes of ``old``, which is ``old_text``."""
    try:
        new, before = _pieces(text), _pieces(old_text)
        default = _first_indent(tree_of(text).body, new.lines) or "    "
        if default != old.default_indent:
            raise _Uncertain
        header, body, footer = _joined(new, before, old.body, default)
        return old.with_changes(header=header, body=body, footer=footer)
    except (_Uncertain, cst.ParserSyntaxError, cst.CSTValidationError, RecursionError):
        return parse(text)


def _joined(
    new: _Pieces, before: _Pieces, old: Sequence[cst.CSTNode], default: str
) -> tuple[_Lines, list[cst.CSTNode], _Lines]:
    """The lines above the statements of a block, these, and the lines below."""
    if len(old) != len(before.texts):
        raise _Uncertain
    known: dict[str, list[cst.CSTNode]] = {}
    named: dict[tuple[type[ast.stmt], str], int] = {}
    for place, (one, piece) in enumerate(
        zip(before.statements, before.texts, strict=True)
    ):
        if before.alone[place]:
            known.setdefault(piece, []).append(old[place])
            named[one.__class__, getattr(one, "name", "")] = place
    # A statement that occurs twice is two nodes, as ever.
    kept = [
        known[piece].pop(0) if alone and known.get(piece) else None
        for piece, alone in zip(new.texts, new.alone, strict=True)
    ]
    taken = {id(one) for one in kept}
    for place, one in enumerate(new.statements):
        if kept[place] is None and new.alone[place]:
            like = named.pop((one.__class__, getattr(one, "name", "")), None)
            if like is not None and id(old[like]) not in taken:
                kept[place] = _changed_inside(
                    (place, new), (like, before), old[like], default
                )
    header: _Lines = ()
    footer: _Lines = ()
    body: list[cst.CSTNode] = []
    for start, end in _runs(kept):
        body += [one for one in kept[len(body) : start] if one is not None]
        last = end == len(kept)
        chunk = "".join(new.texts[start:end]) + (new.below if last else "")
        above, statements, below = _parsed(chunk, new.indents, default)
        if len(statements) != end - start or (below and not last):
            raise _Uncertain
        if start == 0:
            header = above
        elif above:
            lines = [*above, *statements[0].leading_lines]
            statements[0] = statements[0].with_changes(leading_lines=lines)
        body += statements
        footer = below
    body += [one for one in kept[len(body) :] if one is not None]
    return header, body, footer


def _parsed(
    chunk: str, indents: Sequence[str], default: str
) -> tuple[_Lines, list[Any], _Lines]:
    """Some statements of a block, with the lines above and below them."""
    around = "".join(f"{indent}if 1:\n" for indent in indents[:-1])
    module = parse(around + chunk)
    blocks = around or any(
        not isinstance(one, cst.SimpleStatementLine) for one in module.body
    )
    if blocks and module.default_indent != default:
        raise _Uncertain
    statements: Sequence[Any] = module.body
    for _ in indents[1:]:
        if len(statements) != 1 or statements[0].body.footer:
            raise _Uncertain
        statements = statements[0].body.body
    if around and module.footer:
        raise _Uncertain
    return module.header, list(statements), module.footer


def _changed_inside(
    new: tuple[int, _Pieces],
    old: tuple[int, _Pieces],
    statement: cst.CSTNode,
    default: str,
) -> cst.CSTNode | None:
    """A function or class whose head stays, and most statements in it; else None."""
    if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)) or not isinstance(
        statement.body, cst.IndentedBlock
    ):
        return None
    head, inside = _inside(*new)
    old_head, old_inside = _inside(*old)
    if head != old_head or inside.indents != old_inside.indents:
        return None
    block = statement.body
    try:
        header, body, footer = _joined(inside, old_inside, block.body, default)
    except (_Uncertain, cst.ParserSyntaxError, cst.CSTValidationError):
        return None
    if header or footer:
        return None
    return statement.with_changes(body=block.with_changes(body=body))


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
    return _cut(statements, lines, 0, len(lines), ("",))


def _inside(place: int, around: _Pieces) -> tuple[str, _Pieces]:
    """The lines down to the head of a function or class, and the block below it."""
    statement, lines = around.statements[place], around.lines
    body: list[ast.stmt] = statement.body  # type: ignore[attr-defined]
    end = statement.end_lineno or 0
    first = start = _first_line(body[0])
    while lines[start - 1].strip()[:1] in ("", "#"):
        start -= 1
    head = "".join(lines[end - around.texts[place].count("\n") : start])
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip(" \t"))]
    indents = (*around.indents, indent)
    return head, _cut(body, lines, start, end, indents)


def _first_line(statement: ast.stmt) -> int:
    """The line in which a statement or its decorators begin, from 0."""
    decorators = getattr(statement, "decorator_list", ())
    first: int = min(one.lineno for one in (statement, *decorators))
    return first - 1


def _cut(
    statements: Sequence[ast.stmt],
    lines: Sequence[str],
    begin: int,
    end: int,
    indents: tuple[str, ...],
) -> _Pieces:
    """The pieces of a block that stands in some lines of a text."""
    ends: list[int] = []
    firsts: list[ast.stmt] = []
    clean: list[bool] = []
    for statement in statements:
        assert statement.end_lineno is not None
        first = _first_line(statement)
        done = ends[-1] if ends else begin
        if ends and first < done:
            ends[-1] = statement.end_lineno  # behind a semicolon
            firsts[-1] = ast.Pass()
            continue
        ends.append(statement.end_lineno)
        firsts.append(statement)
        above = lines[done:first]
        clean.append(
            all(one == "\n" or one[:-1].startswith(f"{indents[-1]}#") for one in above)
        )
    if not ends:
        raise _Uncertain
    if begin == 0:
        clean[0] = False
    starts = [begin, *ends[:-1]]
    below = "".join(lines[ends[-1] : end])
    return _Pieces(
        lines,
        tuple(firsts),
        tuple(
            "".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)
        ),
        tuple(
            here and after
            for here, after in zip(clean, [*clean[1:], not below], strict=True)
        ),
        below,
        indents,
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
