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
from .activation import activated, activated_cell, deactivated, is_activated
from .sources import SourceError, decode
from .text import Edit, Lines, apply_edits, note_above

_CELL = re.compile(r"(?m)^__tfmigrate_cell_\d+__[ \t]*(?:\r?\n|\Z)")


def started(path: Path, raw: bytes, version: int) -> bytes:
    """The file with the call that prepares the compat layer."""
    if path.suffix != ".ipynb":
        return _edited(raw, lambda text: activated(text, version))
    try:
        notebook = Notebook.parse(raw)
    except NotebookError:
        return raw
    pieces = _CELL.split(notebook.text)[1:]
    cells = list(zip(notebook.cells, pieces, strict=True))
    if is_activated(notebook.text):
        return raw
    for cell, source in cells:
        if not cell.foreign and re.search(r"(?m)^(?:import|from) ", source):
            new = activated_cell(source, version)
            return bytes(notebook.render(_with_cell(notebook, cell.number, new)))
    return raw


def unstarted(path: Path, raw: bytes) -> bytes:
    """The file without that call."""
    if b"tfmigrate.compat.install(" not in raw:
        return raw
    if path.suffix != ".ipynb":
        return _edited(raw, deactivated)
    try:
        notebook = Notebook.parse(raw)
    except NotebookError:
        return raw
    return bytes(notebook.render(deactivated(notebook.text)))


def noted(path: Path, raw: bytes, findings: Iterable[Finding]) -> bytes:
    """The file with one note above the statement of each finding."""
    wanted = {finding.note_at or finding.line: finding for finding in findings}
    if path.suffix != ".ipynb":
        return _edited(raw, lambda text: _with_notes(text, wanted))
    try:
        notebook = Notebook.parse(raw)
        by_line = {
            finding.note_at: finding
            for finding in wanted.values()
            if finding.note_at is not None
        }
        return bytes(notebook.render(_with_notes(notebook.text, by_line)))
    except NotebookError:
        return raw


def _with_cell(notebook: Notebook, number: int, source: str) -> str:
    marker = f"__tfmigrate_cell_{number}__\n"
    before, _, after = notebook.text.partition(marker)
    rest = _CELL.search(after)
    tail = after[rest.start() :] if rest else ""
    return f"{before}{marker}{source}{tail}"


def _edited(raw: bytes, edit: Callable[[str], str]) -> bytes:
    try:
        text, encoding = decode(raw)
        new = edit(text)
        if new == text or not _compiles(new):
            return raw
        return new.encode(encoding)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return raw


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree_of(text)
    return True


def _with_notes(text: str, wanted: dict[int, Finding]) -> str:
    lines = Lines(text)
    edits: list[Edit] = []
    for number, finding in sorted(wanted.items()):
        if 1 <= number <= len(lines.starts):
            edits += note_above(lines, number, finding.rule, finding.reason or "")
    return apply_edits(text, edits)
