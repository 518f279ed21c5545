"""Line breaks for lines that only the rewrite made too long.

`tf.get_variable(` becomes `tf.compat.v1.get_variable(`, and a line that was 80 wide is
90. Such a line is broken at a comma below its opening bracket, or behind the bracket,
as its author would have. Lines that were too long before are left as they are, unless
they are longer now than any that the author wrote.
"""

from __future__ import annotations

import difflib
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

WIDTH = 88
# A bracket further right leaves no room for what is put below it.
_RIGHTMOST = 48
# Who writes longer lines does so without care.
_CARELESS = 100
# How much of a line is that of another one, if they are forms of each other.
_ALIKE = 0.6
_COMPOUND = ("if", "elif", "while", "for", "with", "def", "class", "async", "except")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class _Pair:
    """Brackets that open and close in one line, and where one may break inside them.

    That is behind a comma, or before the ``for`` of a comprehension.
    """

    start: int
    end: int
    commas: tuple[int, ...]


def with_short_lines(new: str, old: str) -> str:
    """``new``, with lines broken that are too long and were not so in ``old``."""
    known = old.splitlines()
    long_ones = [line for line in known if len(line) > WIDTH]
    lines = new.splitlines(keepends=True)
    told, longest = set(known), max(map(len, long_ones), default=0)
    if sum(len(line) > _CARELESS for line in known) < 3:
        longest = min(longest, _CARELESS)
    numbers = [
        number
        for number, line in enumerate(lines)
        if len(line.rstrip("\r\n")) > WIDTH
        and line.rstrip("\r\n") not in told
        and not (len(line.rstrip()) <= longest and _was_long(line, long_ones))
    ]
    if not numbers:
        return new
    tokens = _tokens(new)
    for number in numbers:
        lines[number] = _broken(lines[number], tokens.get(number, []))
    return "".join(lines)


def _was_long(line: str, long_ones: list[str]) -> bool:
    """Whether a line seems to be another form of one that was too long before."""
    near = [one for one in long_ones if len(line) / 2 < len(one) < len(line) * 2]
    matcher = difflib.SequenceMatcher(b=line)
    for one in near:
        matcher.set_seq1(one)
        quick = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
        if all(ratio() >= _ALIKE for ratio in quick):
            return True
    return False


def _tokens(text: str) -> dict[int, list[tokenize.TokenInfo]]:
    """Line, from 0 -> tokens that begin in it; nothing for text that has no tokens."""
    found: dict[int, list[tokenize.TokenInfo]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            for line in range(token.start[0] - 1, token.end[0]):
                found.setdefault(line, []).append(token)
    except (tokenize.TokenError, SyntaxError):
        return {}
    return found


def _broken(line: str, tokens: list[tokenize.TokenInfo]) -> str:
    code = line.rstrip("\r\n")
    ending = line[len(code) :]
    if any(t.type == tokenize.COMMENT or t.start[0] != t.end[0] for t in tokens):
        return line
    indent = code[: len(code) - len(code.lstrip())]
    deeper = indent + " " * (8 if code.split()[0] in _COMPOUND else 4)
    commas = _commas_of_call(tokens)
    parts = _filled(code, commas, indent)
    if commas and all(len(part) <= WIDTH for part in parts):
        return (ending or "\n").join(parts) + ending
    for pair in _pairs(tokens):
        for parts in (_aligned(code, pair), _hanging(code, pair, deeper)):
            if parts and all(len(part) <= WIDTH for part in parts):
                return (ending or "\n").join(parts) + ending
    return line


def _commas_of_call(tokens: list[tokenize.TokenInfo]) -> tuple[int, ...]:
    """The commas of a line within a call, which has several arguments by name."""
    found: list[int] = []
    depth = 0
    named = [0, 0]  # before a comma, and behind one
    for token in tokens:
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if not depth and token.string == ",":
            found.append(token.start[1])
        elif not depth and token.string == "=":
            named[bool(found)] += 1
    return tuple(found) if all(named) else ()


def _pairs(tokens: list[tokenize.TokenInfo]) -> Iterator[_Pair]:
    """The pairs of one line, outer ones first and of those the last first."""
    found: list[tuple[int, _Pair]] = []
    opened: list[tuple[int, list[int]]] = []
    inside_string = 0
    for token in tokens:
        name = tokenize.tok_name[token.type]
        inside_string += {"FSTRING_START": 1, "FSTRING_END": -1}.get(name, 0)
        column = token.start[1]
        if token.string == "for" and opened and not inside_string:
            opened[-1][1].append(column - 1)
        if token.type != tokenize.OP or inside_string:
            continue
        if token.string in _OPEN:
            opened.append((column, []))
        elif token.string in _CLOSE and opened:
            start, commas = opened.pop()
            if column > start + 1:
                found.append((len(opened), _Pair(start, column, tuple(commas))))
        elif token.string == "," and opened:
            opened[-1][1].append(column)
    found.sort(key=lambda pair: (pair[0], -pair[1].start))
    return (pair for _, pair in found)


def _aligned(code: str, pair: _Pair) -> list[str]:
    """Broken at commas, what follows stands below what is behind the bracket."""
    if pair.start >= _RIGHTMOST:
        return []
    return _filled(code, pair.commas, " " * (pair.start + 1))


def _hanging(code: str, pair: _Pair, indent: str) -> list[str]:
    """Broken behind the bracket, and at commas where that is not enough."""
    head, rest = code[: pair.start + 1], code[pair.start + 1 :].lstrip()
    shift = len(code) - len(rest) - len(indent)
    commas = tuple(comma - shift for comma in pair.commas)
    return [head, *_filled(indent + rest, commas, indent)]


def _filled(code: str, commas: tuple[int, ...], indent: str) -> list[str]:
    """Code in lines as full as they may be, broken behind the commas."""
    parts: list[str] = []
    while len(code) > WIDTH:
        fitting = [comma for comma in commas if comma < WIDTH]
        if not fitting:
            break
        cut = fitting[-1] + 1
        rest = code[cut:].lstrip()
        shift = len(code) - len(rest) - len(indent)
        parts.append(code[:cut].rstrip())
        code = indent + rest
        commas = tuple(comma - shift for comma in commas if comma >= cut)
    return [*parts, code]
