"""``tfmigrate rewrite``: legacy programs become plain TF2."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..errors import UserError
from ..project.files import find_files, project_root
from ..project.journal import lock, write_all
from ..project.pipeline import Job
from ..project.run import one_source
from ..project.vcs import require_clean
from ..report.findings import Outcome
from ..report.model import FileResult, FileStatus, Report
from ..report.render import render
from ..report.text import diff_text, text_report
from .common import (
    exit_code,
    file_options,
    job_from,
    run_with_progress,
    style_options,
    write_report,
)

__all__ = ["rewrite"]

EPILOG = """\b
Examples:
  tfmigrate rewrite train.py --diff       show what would change
  tfmigrate rewrite src/                  rewrite in place (undo: tfmigrate undo)
  tfmigrate rewrite src/ --out migrated/  write a copy of the tree instead
  tfmigrate rewrite src/ --check          exit 1 if anything is left to do
  tfmigrate rewrite - < old.py > new.py   as a filter

\b
Exit status: 0 done and nothing left; 1 something is left (or pending, with
--check and --diff); 2 a file could not be processed or the usage was wrong.
"""


@click.command(epilog=EPILOG)
@file_options
@style_options
@click.option("--diff", is_flag=True, help="Print a diff and write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if work is left.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the files to a mirror tree and leave the originals.",
)
@click.option(
    "--allow-dirty", is_flag=True, help="Rewrite files that git could not restore."
)
def rewrite(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    format_: str,
    output: Path | None,
    jobs: int,
    py2: bool,
    diff: bool,
    check: bool,
    out: Path | None,
    allow_dirty: bool,
    **shape: Any,
) -> None:
    """Rewrite legacy TensorFlow code to plain TF2, in place.

    Directories are searched for .py and .ipynb files. Files that git could not
    restore are refused without --allow-dirty; `tfmigrate undo` reverts a run.
    """
    job, config = job_from(paths, select=select, ignore=ignore, py2=py2, **shape)
    if any(str(p) == "-" for p in paths):
        if len(paths) > 1 or out is not None:
            raise UserError("- reads one program from stdin and takes no other path")
        sys.exit(_filter(job, diff=diff, check=check))
    writes = not (diff or check) and out is None
    root = project_root(paths)
    files = [
        c.path for c in find_files(paths, exclude=exclude or config.lists("exclude"))
    ]
    if writes:
        if not allow_dirty:
            require_clean(root, paths)
        with lock(root):
            report = run_with_progress(files, job, jobs)
            report = _write(report, root)
    else:
        report = run_with_progress(files, job, jobs)
        if out is not None and not (diff or check):
            report = _mirror(report, paths, out)
    if diff and format_ == "text":
        write_report("".join(diff_text(r) for r in report.changed), output)
        click.echo(text_report(report, written=False), err=True, nl=False)
    else:
        written = not (diff or check)
        write_report(render(report, format_, written=written), output)
    sys.exit(exit_code(report, pending=bool(report.changed) and (diff or check)))


def _write(report: Report, root: Path) -> Report:
    changes = {r.path: (r.old, r.new) for r in report.changed if r.new is not None}
    return _with_failures(report, write_all(root, changes))


def _with_failures(report: Report, failures: dict[Path, str]) -> Report:
    """Account for files that could not be written as failed, not changed."""
    if not failures:
        return report
    results = []
    for result in report.results:
        reason = failures.get(result.path)
        if reason is not None:
            findings = tuple(
                replace(f, outcome=Outcome.FAILED, reason=reason)
                if f.outcome is Outcome.REWRITTEN
                else f
                for f in result.findings
            )
            result = FileResult(
                result.path,
                FileStatus.FAILED,
                findings=findings,
                error=reason,
                lines=result.lines,
            )
        results.append(result)
    return Report(tuple(results))


def _mirror(report: Report, paths: tuple[Path, ...], out: Path) -> Report:
    """Write every examined file below ``out``, changed or not."""
    roots = [p if p.is_dir() else p.parent for p in paths]
    base = Path(os.path.commonpath([str(r.resolve()) for r in roots]))
    target_root = out.resolve()
    failures: dict[Path, str] = {}
    for result in report.results:
        relative = Path(os.path.relpath(os.path.abspath(result.path), base))
        target = target_root / relative
        if target_root not in target.parents:
            failures[result.path] = f"would be written outside {out}"
            continue
        try:
            content = result.new
            if content is None:
                content = result.path.read_bytes()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(result.path.stat().st_mode & 0o777)
        except OSError as error:
            failures[result.path] = f"cannot write {target}: {error.strerror}"
    return _with_failures(report, failures)


def _filter(job: Job, *, diff: bool, check: bool) -> int:
    """stdin to stdout; the report goes to stderr."""
    raw = sys.stdin.buffer.read()
    path = Path("stdin.ipynb" if raw.lstrip()[:1] == b"{" else "stdin.py")
    report = one_source(path, raw, job)
    result = report.results[0]
    if diff:
        click.echo(diff_text(result), nl=False)
    elif not check:
        sys.stdout.buffer.write(result.new if result.new is not None else raw)
        sys.stdout.buffer.flush()
    click.echo(text_report(report, written=not (diff or check)), err=True, nl=False)
    return exit_code(report, pending=bool(report.changed) and (diff or check))
