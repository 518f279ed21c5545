"""From one file to its result: load, programs, symbols, guard.

``process_file`` is a pure function of the project's content and the options. It
writes nothing, so ``scan``, ``--diff``, ``--check`` and a real rewrite share it
and cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..options import RewriteOptions
from ..report.findings import Finding, Outcome
from ..report.model import FileResult, FileStatus
from .facts import ProjectFacts
from .guard import GuardError, check_output
from .notebook import NotebookError
from .selection import Selection, file_is_ignored, ignored_lines
from .sources import Source, SourceError, load_source

__all__ = ["Job", "process_file", "process_source"]

_NOTE = re.compile(rb"TODO\(tfmigrate\)")


@dataclass(frozen=True)
class Job:
    """What a run does with each file."""

    options: RewriteOptions = field(default_factory=RewriteOptions)
    selection: Selection = field(default_factory=Selection)
    py2: bool = False


def process_file(path: Path, job: Job, facts: ProjectFacts) -> FileResult:
    """The result of one file on disk; never raises for what is in the file."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        return _failed(path, b"", f"cannot read: {error.strerror or error}")
    return process_source(path, raw, job, facts)


def process_source(path: Path, raw: bytes, job: Job, facts: ProjectFacts) -> FileResult:
    """The result of a file's content."""
    lines = raw.count(b"\n")
    try:
        if not facts.concerns_legacy(path, raw):
            return FileResult(path, FileStatus.SKIPPED, lines=lines)
        if file_is_ignored(raw):
            return _unchanged(path, raw, ())
        source = load_source(path, raw)
        new, findings = _rewrite(source, job, facts)
    except SourceError as error:
        return _failed(path, raw, error.reason)
    except (GuardError, NotebookError) as error:
        return _failed(path, raw, str(error))
    except RecursionError:
        return _failed(path, raw, "too deeply nested to process")
    except Exception as error:
        # One file's surprise must not stop the run or be mistaken for success.
        return _failed(path, raw, f"internal error: {type(error).__name__}: {error}")
    if new == raw:
        return _unchanged(path, raw, findings)
    return FileResult(
        path,
        FileStatus.CHANGED,
        findings=findings,
        old=raw,
        new=new,
        notes=len(_NOTE.findall(new)),
        lines=lines,
    )


def _rewrite(
    source: Source, job: Job, facts: ProjectFacts
) -> tuple[bytes, tuple[Finding, ...]]:
    from .. import emit

    parsed = facts.module_of(source)
    silenced = ignored_lines(source.text)
    text, findings = source.text, list[Finding]()
    if hasattr(emit, "rewrite_programs"):
        programs = emit.rewrite_programs(
            source.module,
            path=source.path,
            resolver=parsed.resolver,
            facts=facts,
            options=job.options,
        )
        text = programs.module.code
        findings = list(programs.findings)
    if any(_is_silenced(f, silenced) for f in findings):
        # The owner asked for this program to stay as it is, all of it.
        text, findings = source.text, []
    if not job.selection.allows_all(f.rule for f in findings):
        text = source.text
        findings = [
            replace(f, outcome=Outcome.LEFT, reason="its rule was not selected")
            for f in findings
            if job.selection.allows(f.rule)
        ]
    if text != source.text:
        check_output(source.text, text, cells=source.notebook is not None)
    return source.render(text), tuple(sorted(_placed(findings, source)))


def _placed(findings: Iterable[Finding], source: Source) -> Iterable[Finding]:
    """Findings of a notebook refer to cells instead of the joined text."""
    for finding in findings:
        if source.notebook is None:
            yield finding
            continue
        cell, line = source.locate(finding.line)
        yield replace(finding, cell=cell, line=line)


def _is_silenced(finding: Finding, silenced: dict[int, tuple[str, ...]]) -> bool:
    prefixes = silenced.get(finding.line)
    if prefixes is None:
        return False
    return not prefixes or any(finding.rule.startswith(p) for p in prefixes)


def _unchanged(path: Path, raw: bytes, findings: tuple[Finding, ...]) -> FileResult:
    return FileResult(
        path,
        FileStatus.UNCHANGED,
        findings=findings,
        notes=len(_NOTE.findall(raw)),
        lines=raw.count(b"\n"),
    )


def _failed(path: Path, raw: bytes, error: str) -> FileResult:
    return FileResult(path, FileStatus.FAILED, error=error, lines=raw.count(b"\n"))
