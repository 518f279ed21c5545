"""The bytes of a file that stays: its own, with a note or a call put in.

Lines are put in between lines; nothing is parsed and written anew. Where the
result would not compile, the file stays as it was.

The call is ``tfmigrate.compat.install()``, in the file that a kept program starts from,
before anything imports TensorFlow. It does what ``tfmigrate run`` does for its process,
so that every file of the program, and every library it uses, finds TF 1.15's names. It
is no import alone, which a tool that sorts imports would move below others.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from tfmigrate.compat.notebooks import Notebook, NotebookError

from ..names.ast_nodes import tree_of
from ..report.findings import Finding
from .sources import SourceError, decode
from .text import Edit, Lines, apply_edits, note_above

# Why a text may not be Python.
_NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_CELL = re.compile(r"(?m)^__tfmigrate_cell_\d+__[ \t]*(?:\r?\n|\Z)")
_CALL = re.compile(r"(?m)^tfmigrate\.compat\.install\([^)\n]*\)")
_LINES = re.compile(
    r"(?m)^import tfmigrate\.compat[ \t]*\r?\n(?:[ \t]*\r?\n)*"
    r"tfmigrate\.compat\.install\([^)\n]*\)[^\n]*(?:\n(?:[ \t]*\r?\n)?|\Z)"
)
# As Python counts lines: a form feed ends none.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_REASON = "# runs on tfmigrate.compat: see `tfmigrate explain TFM103`"


def started(path: Path, raw: bytes, version: int) -> bytes:
    """The file with the call that prepares the compat layer."""
    if path.suffix != ".ipynb":
        return _edited(raw, lambda text: activated(text, version))

    def with_call(notebook: Notebook) -> str:
        if is_activated(notebook.text):
            return str(notebook.text)
        pieces = _CELL.split(notebook.text)[1:]
        text = str(notebook.text)
        for cell, source in zip(notebook.cells, pieces, strict=True):
            if not cell.foreign and re.search(r"(?m)^(?:import|from) ", source):
                mark = f"__tfmigrate_cell_{cell.number}__\n"
                new = activated(source, version, cell=True)
                return text.replace(mark + source, mark + new, 1)
        return text

    return _with_cells(raw, with_call)


def unstarted(path: Path, raw: bytes) -> bytes:
    """The file without that call."""
    if b"tfmigrate.compat.install(" not in raw:
        return raw
    if path.suffix != ".ipynb":
        return _edited(raw, deactivated)
    return _with_cells(raw, lambda notebook: deactivated(notebook.text))


def noted(path: Path, raw: bytes, findings: Iterable[Finding]) -> bytes:
    """The file with one note above the statement of each finding."""
    wanted = {finding.note_at or finding.line: finding for finding in findings}
    if path.suffix != ".ipynb":
        return _edited(raw, lambda text: _with_notes(text, wanted))
    placed = {line: one for line, one in wanted.items() if one.note_at is not None}
    return _with_cells(raw, lambda notebook: _with_notes(notebook.text, placed))


def _with_cells(raw: bytes, edit: Callable[[Notebook], str]) -> bytes:
    """A notebook with another text of all of its cells."""
    try:
        notebook = Notebook.parse(raw)
        return bytes(notebook.render(edit(notebook)))
    except (NotebookError, *_NO_PYTHON):
        return raw


def _edited(raw: bytes, edit: Callable[[str], str]) -> bytes:
    try:
        text, encoding = decode(raw)
        new = edit(text)
        if new == text:
            return raw
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree_of(new)
        return new.encode(encoding)
    except (SourceError, *_NO_PYTHON):
        return raw


def _with_notes(text: str, wanted: dict[int, Finding]) -> str:
    lines = Lines(text)
    edits: list[Edit] = []
    for number, finding in sorted(wanted.items()):
        if 1 <= number <= len(lines.starts):
            edits += note_above(lines, number, finding.rule, finding.reason or "")
    return apply_edits(text, edits)


def is_activated(text: str) -> bool:
    """Whether a program calls the compat layer already."""
    return _CALL.search(text) is not None


def activated(text: str, version: int = 1, *, cell: bool = False) -> str:
    """A module, or a cell, with the call before what first does something."""
    if is_activated(text):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _LINE.findall(text)
    place = _place(text, cell)
    before, after = "".join(lines[:place]), "".join(lines[place:])
    if before and not before.endswith(("\n", "\r")):
        before += newline
    argument = "" if version == 1 else f"version={version}"
    call = newline.join(
        (
            "import tfmigrate.compat",
            "",
            f"tfmigrate.compat.install({argument})  {_REASON}",
            "",
        )
    )
    if not cell:
        # A docstring and ``from __future__`` keep their distance.
        above = lines[place - 1].strip() if place else ""
        call = newline + call if above and not above.startswith("#") else call
        call += newline if lines[place : place + 1] and lines[place].strip() else ""
    return before + call + after


def deactivated(text: str) -> str:
    """The module without the lines that `activated` wrote."""
    return _LINES.sub("", text, count=1)


def _place(text: str, cell: bool) -> int:
    """The number of lines that stay in front of the call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(text).body
    end = 0
    for number, statement in enumerate(body):
        said = ast.unparse(statement)
        future = said.startswith("from __future__ ")
        docstring = number == 0 and not cell and _is_text(statement)
        if not (future or docstring or said.startswith("__tfmigrate_magic_")):
            if end or cell:
                break
            decorators = getattr(statement, "decorator_list", ())
            first = decorators[0] if decorators else statement
            return int(first.lineno) - 1
        end = statement.end_lineno or statement.lineno
    return end


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
