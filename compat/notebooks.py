"""Notebooks: code cells joined for analysis, edits put back cell by cell.

The JSON is never re-serialised as a whole. Only the ``source`` value of a cell
that changed is replaced in the file's text, so outputs, metadata, key order and
layout keep their bytes.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .launcher.python2 import looks_like_python2

__all__ = ["NEW_CELL", "PYTHON_CELL_MAGICS", "Cell", "Notebook", "NotebookError"]

# Magics whose cell is still Python of this notebook; others (%%bash) are not.
PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")

_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_CONCERNS = re.compile(r"tensorflow|[Ee]stimator|\btf\b")
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_MARKER = re.compile(r"(?m)^__tfmigrate_cell_(\d+)__[ \t]*(?:\r?\n|\Z)")
# Stands above the text of a cell that the notebook gets, before the next cell's mark.
NEW_CELL = "__tfmigrate_new_cell__"
_NEW = re.compile(rf"(?m)^{NEW_CELL}[ \t]*\r?\n")
_PLACEHOLDER = re.compile(r"__tfmigrate_magic_(\d+)__")
_MAGIC_STATEMENT = re.compile(r"(?m)^([ \t]*)__tfmigrate_magic_(\d+)__")
# %magic, !shell, ?help, help?; after optional indentation.
_MAGIC_LINE = re.compile(r"^[ \t]*(?:[%!?]|[^#'\"\n]*[\w\])]\?{1,2}[ \t]*$)")
# `%time train()` is a line of the program: the code stays, the magic waits behind it.
_TIMED = re.compile(
    rf"^([ \t]*)(%(?:{'|'.join(PYTHON_CELL_MAGICS)})[ \t]+"
    r"(?:-\w+[ \t]+(?:\d+[ \t]+)?)*)([^-\s].*)$"
)
_TIMED_MARK = re.compile(r"(?m)^([ \t]*)(.*)  # __tfmigrate_timed_(\d+)__$")
_ASSIGNED_MAGIC = re.compile(r"^([ \t]*[\w.,\[\] ]+=[ \t]*)([%!].*)$")


class NotebookError(Exception):
    """A notebook that cannot be read as one; the text says why."""


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among all cells (from 1), text and place."""

    number: int
    source: str
    span: tuple[int, int]  # of the JSON value of "source"
    as_list: bool
    first_line: int  # in the joined text
    foreign: bool  # %%bash and the like: kept out of the analysis
    start: int = 0  # of the cell in the JSON text


@dataclass(frozen=True)
class Notebook:
    """A notebook's JSON text and its code cells."""

    json_text: str
    bom: bool
    cells: tuple[Cell, ...]
    text: str
    magics: tuple[str, ...]

    @classmethod
    def parse(cls, raw: bytes) -> Notebook:
        """Read a notebook of format 4; other formats are refused."""
        try:
            json_text = raw.decode("utf-8-sig")
            whole = json.loads(json_text)
        except (UnicodeDecodeError, ValueError, RecursionError) as error:
            raise NotebookError(f"not a notebook: {error}") from None
        if not isinstance(whole, dict) or not isinstance(whole.get("cells"), list):
            raise NotebookError(
                "not a notebook of format 4; open and save it with a current Jupyter"
            )
        language = _language(whole)
        if language not in (None, "python"):
            raise NotebookError(f"a notebook for {language}, not Python")
        cells: list[Cell] = []
        parts: list[str] = []
        magics: list[str] = []
        line = 1
        for number, (cell, span, start) in enumerate(_cells(json_text), start=1):
            if cell.get("cell_type") != "code" or span is None:
                continue
            value = cell.get("source", "")
            source = _source(value, number)
            foreign = _is_foreign(source)
            known = len(magics)
            body = "" if foreign else _hide_magics(source, magics)
            if body and _is_broken(body):
                # Python stops there too; the other cells go on without it.
                foreign, body = True, ""
                del magics[known:]
            if body and not body.endswith("\n"):
                body += "\n"
            marker = f"__tfmigrate_cell_{number}__\n"
            parts.append(marker + body)
            cells.append(
                Cell(
                    number,
                    source,
                    span,
                    isinstance(value, list),
                    line + 1,
                    foreign,
                    start,
                )
            )
            line += 1 + body.count("\n")
        return cls(
            json_text,
            raw.startswith(b"\xef\xbb\xbf"),
            tuple(cells),
            "".join(parts),
            tuple(magics),
        )

    def plain_python(self) -> str:
        """The code cells as one program, with nothing of IPython's in it."""
        text = _TIMED_MARK.sub(r"\1\2", _MARKER.sub("", self.text))
        # `pass` keeps a block whose only line is a magic.
        text = _MAGIC_STATEMENT.sub(r"\1pass", text)
        return _PLACEHOLDER.sub("None", text)

    def python_cells(
        self, statement: Callable[[int, str], str], value: Callable[[int, str], str]
    ) -> Iterator[tuple[int, str]]:
        """Number and Python of each code cell, foreign ones left out.

        ``statement`` and ``value`` say what stands for a magic that is a line of
        its own or behind ``name =``, from the cell's number and the magic's text.
        """
        pieces = _MARKER.split(_TIMED_MARK.sub(r"\1\2", self.text))[1:]
        for cell, body in zip(self.cells, pieces[1::2], strict=True):
            if cell.foreign:
                continue

            def line(match: re.Match[str], number: int = cell.number) -> str:
                magic = self.magics[int(match.group(2))]
                return match.group(1) + statement(number, magic)

            def inside(match: re.Match[str], number: int = cell.number) -> str:
                return value(number, self.magics[int(match.group(1))])

            yield (
                cell.number,
                _PLACEHOLDER.sub(inside, _MAGIC_STATEMENT.sub(line, body)),
            )

    def locate(self, line: int) -> tuple[int | None, int]:
        """The cell number and the line in it of a line of the joined text."""
        found: Cell | None = None
        for cell in self.cells:
            if cell.first_line <= line:
                found = cell
        if found is None:
            return (self.cells[0].number if self.cells else 1), 1
        return found.number, line - found.first_line + 1

    def split(self, text: str) -> dict[int, str]:
        """Cell sources (magics restored) of a new joined text."""
        numbers = [int(m.group(1)) for m in _MARKER.finditer(text)]
        if numbers != [cell.number for cell in self.cells]:
            raise NotebookError("the rewrite moved code across cell borders")
        pieces = _MARKER.split(text)
        before, rest = pieces[0], pieces[1:]
        sources: dict[int, str] = {}
        for index in range(0, len(rest), 2):
            sources[int(rest[index])] = rest[index + 1]
        if before.strip() and self.cells:
            first = next((c for c in self.cells if not c.foreign), None)
            if first is None:
                raise NotebookError("the rewrite has no cell to go to")
            sources[first.number] = before + sources[first.number]
        result: dict[int, str] = {}
        for cell in self.cells:
            if cell.foreign:
                result[cell.number] = cell.source
                continue
            source = _PLACEHOLDER.sub(
                lambda m: self.magics[int(m.group(1))], sources[cell.number]
            )
            source = _TIMED_MARK.sub(self._timed, source)
            if not cell.source.endswith("\n"):
                source = source.rstrip("\n")
            if not cell.source.startswith("\n"):
                source = source.lstrip("\n")
            result[cell.number] = source
        return result

    def _timed(self, match: re.Match[str]) -> str:
        """A line with its magic in front again, if it still is a whole statement."""
        indent, code, number = match.groups()
        magic = self.magics[int(number)] if _is_statement(code) else ""
        return f"{indent}{magic}{code}"

    def render(self, text: str) -> bytes:
        """The notebook's new bytes."""
        text, added = self._without_new_cells(text)
        sources = self.split(text)
        parts: list[str] = []
        position = 0
        for cell in self.cells:
            for source in added.get(cell.number, ()):
                parts.append(self.json_text[position : cell.start])
                parts.append(self._new_cell(source, cell))
                position = cell.start
            new = sources[cell.number]
            if new == cell.source:
                continue
            start, end = cell.span
            parts.append(self.json_text[position:start])
            parts.append(self._value(new, cell))
            position = end
        parts.append(self.json_text[position:])
        encoding = "utf-8-sig" if self.bom else "utf-8"
        return "".join(parts).encode(encoding)

    def _without_new_cells(self, text: str) -> tuple[str, dict[int, list[str]]]:
        """The text without cells that are new, and these by the cell they precede."""
        added: dict[int, list[str]] = {}
        while True:
            found = _NEW.search(text)
            if found is None:
                return text, added
            marker = _MARKER.search(text, found.end())
            if marker is None:
                raise NotebookError("a new cell has no place")
            sources = _NEW.split(text[found.end() : marker.start()])
            there = added.setdefault(int(marker.group(1)), [])
            there += [source.rstrip("\n") for source in sources]
            text = text[: found.start()] + text[marker.start() :]

    def _new_cell(self, source: str, before: Cell) -> str:
        """A cell in the layout of the one that it precedes."""
        line = self.json_text.rfind("\n", 0, before.start) + 1
        margin = self.json_text[line : before.start]
        cell: dict[str, Any] = {"cell_type": "code", "execution_count": None}
        known, _ = _DECODER.raw_decode(self.json_text, before.start)
        if "id" in known:
            cell["id"] = hashlib.sha256(source.encode()).hexdigest()[:8]
        cell.update(metadata={}, outputs=[], source=source.splitlines(keepends=True))
        if margin.strip():
            return json.dumps(cell, ensure_ascii=False) + ", "
        made = json.dumps(cell, ensure_ascii=False, indent=1)
        return made.replace("\n", f"\n{margin}") + f",\n{margin}"

    def _value(self, source: str, cell: Cell) -> str:
        escape = self.json_text.isascii() and "\\u" in self.json_text
        if not cell.as_list:
            return json.dumps(source, ensure_ascii=escape)
        lines = re.findall(r"[^\n]*\n|[^\n]+", source)
        old = self.json_text[slice(*cell.span)]
        match = re.match(r"\[(\s*)", old)
        opening = match.group(1) if match else ""
        if old.strip() == "[]":
            opening = "\n    "
        closing_match = re.search(r"(\s*)\]$", old)
        closing = closing_match.group(1) if closing_match else ""
        if old.strip() == "[]":
            closing = "\n   "
        separator = "," + (opening or " ")
        items = separator.join(json.dumps(line, ensure_ascii=escape) for line in lines)
        return f"[{opening}{items}{closing}]" if lines else "[]"


def _source(value: object, number: int) -> str:
    """The text of a cell's ``source``, a string or a list of strings."""
    items = value if isinstance(value, list) else [value]
    lines = [item for item in items if isinstance(item, str)]
    if len(lines) != len(items):
        raise NotebookError(f"the source of cell {number} is no text")
    source = "".join(lines)
    try:
        source.encode("utf-8")
    except UnicodeEncodeError:
        raise NotebookError(f"cell {number} holds half a character") from None
    return source


def _language(whole: dict[str, Any]) -> str | None:
    metadata = whole.get("metadata")
    if not isinstance(metadata, dict):
        return None
    for key in ("kernelspec", "language_info"):
        part = metadata.get(key)
        if isinstance(part, dict):
            name = part.get("language") if key == "kernelspec" else part.get("name")
            if isinstance(name, str):
                return name.lower().rstrip("0123456789")
    return None


def _is_foreign(source: str) -> bool:
    """Cells under a %%magic other than the ones that run Python."""
    match = re.match(r"\s*%%(\w+)", source)
    return match is not None and match.group(1) not in PYTHON_CELL_MAGICS


def _is_broken(body: str) -> bool:
    """A cell that no Python reads, and that has nothing to do with TensorFlow."""
    if _CONCERNS.search(body):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(
                body, "<cell>", "exec", _AWAIT | ast.PyCF_ONLY_AST, dont_inherit=True
            )
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return looks_like_python2(body) is None
    return False


def _is_statement(code: str) -> bool:
    """Whether a line is whole by itself."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return len(ast.parse(code).body) == 1
    except (SyntaxError, ValueError):
        return False


def _hide_magics(source: str, magics: list[str]) -> str:
    """Replace IPython syntax by placeholder statements of the same line count."""
    lines = source.split("\n")
    result: list[str] = []
    state = _State()
    index = 0
    while index < len(lines):
        line = lines[index]
        if state.quote is None and state.depth <= 0:
            end = index
            timed = _TIMED.match(line)
            if timed and _is_statement(timed.group(3)):
                indent, magic, code = timed.groups()
                result.append(f"{indent}{code}  # __tfmigrate_timed_{len(magics)}__")
                magics.append(magic)
                index += 1
                continue
            assigned = _ASSIGNED_MAGIC.match(line)
            if assigned or _MAGIC_LINE.match(line):
                while lines[end].endswith("\\") and end + 1 < len(lines):
                    end += 1
                if assigned:
                    head, first = assigned.group(1), assigned.group(2)
                else:
                    stripped = line.lstrip(" \t")
                    head, first = line[: len(line) - len(stripped)], stripped
                magics.append("\n".join([first, *lines[index + 1 : end + 1]]))
                result.append(f"{head}__tfmigrate_magic_{len(magics) - 1}__")
                index = end + 1
                continue
        state.feed(line)
        result.append(line)
        index += 1
    return "\n".join(result)


_TOKEN = re.compile(r"#|\"\"\"|'''|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[()\[\]{}]")


class _State:
    """Which triple quote and how many brackets are open after each line.

    A line that begins with ``%`` inside brackets is an operator, not a magic.
    """

    def __init__(self) -> None:
        self.quote: str | None = None
        self.depth = 0

    def feed(self, line: str) -> None:
        position = 0
        while True:
            if self.quote is not None:
                end = line.find(self.quote, position)
                if end < 0:
                    return
                position, self.quote = end + 3, None
            match = _TOKEN.search(line, position)
            if match is None or match.group() == "#":
                return
            position = match.end()
            token = match.group()
            if token in ('"""', "'''"):
                self.quote = token
            elif len(token) == 1:
                self.depth += 1 if token in "([{" else -1


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _cells(
    text: str,
) -> list[tuple[dict[str, Any], tuple[int, int] | None, int]]:
    """Every cell with the span of its source value and its start in the text."""
    position = _skip(text, 0)
    places = [start for key, start in _members(text, position) if key == "cells"]
    if len(places) > 1:
        raise NotebookError("it has cells twice")
    return [_cell(text, at) for start in places for at in _elements(text, start)]


def _cell(text: str, start: int) -> tuple[dict[str, Any], tuple[int, int] | None, int]:
    value, _ = _DECODER.raw_decode(text, start)
    if not isinstance(value, dict):
        raise NotebookError("a cell is no JSON object")
    places = [at for key, at in _members(text, start) if key == "source"]
    if len(places) > 1:
        raise NotebookError("a cell has two sources")
    if not places:
        return value, None, start
    _, end = _DECODER.raw_decode(text, places[0])
    return value, (places[0], end), start


def _members(text: str, start: int) -> list[tuple[str, int]]:
    """(key, offset of value) of the JSON object at ``start``."""
    found: list[tuple[str, int]] = []
    position = _skip(text, start + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        position = _skip(text, _skip(text, position) + 1)
        found.append((key, position))
        _, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return found


def _elements(text: str, start: int) -> list[int]:
    """Offsets of the elements of the JSON array at ``start``."""
    found: list[int] = []
    position = _skip(text, start + 1)
    while text[position] != "]":
        found.append(position)
        _, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return found
