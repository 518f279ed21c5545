"""The bytes of a file that stays: its own, with a note or a call put in.

Lines are put in between lines; nothing is parsed and written anew. Where the
result would not compile, the file stays as it was.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from tfmigrate.compat.notebooks import Notebook, NotebookError

from ..names.ast_nodes import tree_of
from ..report.findings import Finding
from .activation import activated, deactivated, is_activated
from .sources import SourceError, decode
from .text import Edit, Lines, apply_edits, note_above

_CELL = re.compile(r"(?m)^__tfmigrate_cell_\d+__[ \t]*(?:\r?\n|\Z)")


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
    except NotebookError:
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
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return raw


def _with_notes(text: str, wanted: dict[int, Finding]) -> str:
    lines = Lines(text)
    edits: list[Edit] = []
    for number, finding in sorted(wanted.items()):
        if 1 <= number <= len(lines.starts):
            edits += note_above(lines, number, finding.rule, finding.reason or "")
    return apply_edits(text, edits)
