"""Results of files: what a run says about each, at the places that the user knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from ..project.reading import read_file
from ..project.sources import Source
from ..report.findings import Finding
from ..report.model import FileResult, FileStatus
from ..report.needs import Need

_NOTE = re.compile(rb"TODO\(tfmigrate\)")


def line_origins(old: str, new: str) -> Callable[[int], int]:
    """Line numbers of ``new`` as lines of ``old`` they came from."""
    if old == new:
        return lambda line: line
    import difflib

    matcher = difflib.SequenceMatcher(
        None, old.splitlines(), new.splitlines(), autojunk=False
    )
    table: dict[int, int] = {}
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        for index in range(new_start, new_end):
            at = old_start + (index - new_start if tag == "equal" else 0)
            table[index + 1] = max(1, min(at, max(old_end - 1, old_start)) + 1)
    last = old.count("\n") + 1
    return lambda line: min(table.get(line, last), last)


def in_cells(findings: Iterable[Finding], source: Source) -> Iterable[Finding]:
    """Findings of a notebook refer to cells instead of the joined text."""
    for finding in findings:
        if source.notebook is None:
            yield finding
            continue
        cell, line = source.locate(finding.line)
        yield replace(finding, cell=cell, line=line)


def result_of(
    path: Path,
    raw: bytes,
    new: bytes,
    findings: tuple[Finding, ...],
    needs: tuple[Need, ...] = (),
) -> FileResult:
    """What became of a file, given its bytes before and after."""
    changed = new != raw
    return FileResult(
        path,
        FileStatus.CHANGED if changed else FileStatus.UNCHANGED,
        findings=findings,
        old=raw,
        new=new if changed else None,
        notes=len(_NOTE.findall(new)),
        lines=raw.count(b"\n"),
        needs=needs if changed else (),
    )


def raw_of(result: FileResult) -> bytes | None:
    """The file as it was read; None where that cannot be."""
    try:
        return result.old or read_file(result.path)
    except OSError:
        return None


def failed(path: Path, raw: bytes, error: str) -> FileResult:
    """A file that could not be processed; the error says why."""
    return FileResult(path, FileStatus.FAILED, error=error, lines=raw.count(b"\n"))
