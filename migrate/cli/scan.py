"""``tfmigrate scan``: what is legacy here, and what would happen to it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import click

from ..errors import UserError
from ..forms.render import render
from .common import (
    exit_code,
    file_options,
    files_below,
    job_from,
    require_writable,
    run_on_stdin,
    run_with_progress,
    write_report,
)

EPILOG = """\b
Examples:
  tfmigrate scan src/                            findings and a summary
  tfmigrate scan src/ --format html -o scan.html a page to share
  tfmigrate scan src/ --format sarif -o scan.sarif

\b
Exit status: 0 no legacy code; 1 legacy code found; 2 a file could not be
processed or the usage was wrong.
"""


@click.command(epilog=EPILOG)
@file_options
def scan(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    format_: str,
    output: Path | None,
    quiet: bool,
    jobs: int,
    timeout: float,
    py2: bool,
) -> None:
    """List legacy TensorFlow code, what a rewrite would make of it, and how sure.

    No file is changed, and no code is imported or run. A repository keeps the report
    in .tfmigrate/cache and tells it again while nothing has changed.
    """
    require_writable(output)
    job, config = job_from(paths, select=select, ignore=ignore, py2=py2)
    if any(str(p) == "-" for p in paths):
        if len(paths) > 1:
            raise UserError("- reads one program from stdin and takes no other path")
        files: list[Path] = []
        _, report = run_on_stdin(job, timeout)
    else:
        files = files_below(paths, exclude or config.lists("exclude"), timeout)
        report = run_with_progress(files, job, jobs, timeout)
    report = replace(report, asked=shlex.join(str(p) for p in paths if str(p) != "-"))
    text = render(report, format_, written=False, quiet=quiet)
    write_report(text, output, form=format_)
    sys.exit(exit_code(report, pending=bool(report.findings)))
