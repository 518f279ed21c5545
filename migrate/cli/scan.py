"""``tfmigrate scan``: what is legacy here, and what would happen to it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace

import click

from .common import Asked, exit_code, file_options, run_with_progress

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
def scan(asked: Asked) -> None:
    """List legacy TensorFlow code, what a rewrite would make of it, and how sure.

    No file is changed, and no code is imported or run. A repository keeps the report
    in .tfmigrate/cache and tells it again while nothing has changed.
    """
    job = asked.job()
    if asked.is_stdin():
        _, report = asked.report_on_stdin(job)
        names = []
    else:
        report = run_with_progress(asked.files(), job, asked.jobs, asked.timeout)
        names = [str(path) for path in asked.paths]
    asked.write(replace(report, asked=shlex.join(names)), written=False)
    sys.exit(exit_code(report, pending=bool(report.findings)))
