"""What scan and rewrite share: arguments, the run, progress, exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..errors import UserError
from ..options import Job
from ..project.cache import Cache
from ..project.config import Config, load_config
from ..project.looking import look_for_files
from ..project.selection import Selection
from ..project.workers import Limits
from ..report.colours import print_coloured, wants_colours
from ..report.model import FileResult, Report

F = TypeVar("F", bound=Callable[..., Any])


class NamedPath(click.Path):
    """A path that has a name: an empty word, as of an unset variable, is not `.`."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """The path; fails for an empty word."""
        if value in ("", b""):
            self.fail("an empty word is no path; `.` is the present folder", param, ctx)
        return super().convert(value, param, ctx)


FORMATS = ("text", "json", "sarif", "github", "html")


def file_options(function: F) -> F:
    """Options about files, rules and output that both commands take."""
    for option in reversed(
        [
            click.argument(
                "paths",
                nargs=-1,
                required=True,
                type=NamedPath(path_type=Path, allow_dash=True),
            ),
            click.option(
                "--select", multiple=True, metavar="RULE", help="Only these rules."
            ),
            click.option(
                "--ignore", multiple=True, metavar="RULE", help="Not these rules."
            ),
            click.option(
                "--exclude",
                multiple=True,
                metavar="PATTERN",
                help="Leave out files and directories (.gitignore syntax).",
            ),
            click.option(
                "--format",
                "format_",
                type=click.Choice(FORMATS),
                default="text",
                show_default=True,
                help="Form of the report.",
            ),
            click.option(
                "-o",
                "--output",
                type=NamedPath(path_type=Path),
                help="Write the report to a file instead of stdout.",
            ),
            click.option(
                "-q",
                "--quiet",
                is_flag=True,
                help="Programs and the summary only (text report).",
            ),
            click.option(
                "-j",
                "--jobs",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Processes to use (0: one per core, 8 at most).",
            ),
            click.option(
                "--timeout",
                type=click.FloatRange(min=0, min_open=True),
                default=120.0,
                show_default=True,
                metavar="SECONDS",
                help="Work that one file may take; one that takes more is left.",
            ),
            click.option(
                "--py2",
                is_flag=True,
                help="Try to convert Python 2 files to Python 3 first.",
            ),
        ]
    ):
        function = option(function)
    return function


def job_from(
    paths: tuple[Path, ...],
    *,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    py2: bool = False,
    requirements: bool = False,
) -> tuple[Job, Config]:
    """The job of a command line, with pyproject.toml's settings as defaults."""
    config = load_config([p for p in paths if str(p) != "-"])
    selection = Selection(
        select=_rules("select", select, config), ignore=_rules("ignore", ignore, config)
    )
    return Job(selection=selection, py2=py2, requirements=requirements), config


def _rules(option: str, items: tuple[str, ...], config: Config) -> tuple[str, ...]:
    """``--select TFM1,TFM2`` and ``--select TFM1 --select TFM2`` are the same."""
    given = items or config.lists(option)
    if not given:
        return ()
    from ..rules.registry import rule_ids

    parts = (part.strip() for item in given for part in item.split(","))
    try:
        return tuple(rule_ids(part) for part in parts if part)
    except UserError as error:
        where = f"--{option}" if items else f"{config.path}: {option}"
        raise UserError(f"{where}: {error.message}", hint=error.hint) from None


def files_below(
    paths: tuple[Path, ...], exclude: tuple[str, ...], timeout: float
) -> list[Path]:
    """The files a command is about, as they are shown: from here, where they can be."""
    return look_for_files(paths, exclude, Limits(seconds=timeout))


def run_with_progress(files: list[Path], job: Job, jobs: int, timeout: float) -> Report:
    """Run the job, or tell what was kept of a run that would be the same.

    A progress bar on stderr when a person is looking.
    """
    cache = Cache.of(files, job)
    report = cache.report()
    if report is None:
        report = _run(files, job, jobs, Limits(seconds=timeout))
        cache.keep(report)
    return report


def _run(files: list[Path], job: Job, jobs: int, limits: Limits) -> Report:
    from ..rewrite.run import run_job

    # Each holds what it has read of the project: memory ends before cores do.
    workers = jobs or min(os.cpu_count() or 1, 8)
    if not sys.stderr.isatty() or len(files) < 20:
        return run_job(files, job, jobs=workers, limits=limits)
    with click.progressbar(length=len(files), label="Reading", file=sys.stderr) as bar:

        def advance(result: FileResult) -> None:
            bar.update(1)

        return run_job(files, job, jobs=workers, limits=limits, progress=advance)


def run_on_stdin(job: Job, timeout: float) -> tuple[bytes, Report]:
    """What stdin holds, and the report of running the job on it."""
    from ..rewrite.run import one_source

    raw = sys.stdin.buffer.read()
    path = Path("stdin.ipynb" if raw.lstrip()[:1] == b"{" else "stdin.py")
    return raw, one_source(path, raw, job, Limits(seconds=timeout))


def exit_code(report: Report, *, pending: bool) -> int:
    """2 when a file failed, 1 when something is pending, left or not proved, else 0."""
    if report.failed:
        return 2
    return 1 if pending or report.leftovers() or report.unproved() else 0


def require_writable(output: Path | None) -> None:
    """Refuse a place where nothing can be written, before there is anything to say."""
    if output is None:
        return
    if output.is_dir():
        raise UserError(f"cannot write {output}: it is a directory")
    if not output.parent.is_dir():
        raise UserError(f"cannot write {output}: {output.parent}: no such directory")
    if not os.access(output if output.exists() else output.parent, os.W_OK):
        raise UserError(f"cannot write {output}: not allowed")


def write_report(text: str, output: Path | None, *, form: str = "text") -> None:
    """To the named file, or to stdout; in colours for a person."""
    if output is None:
        try:
            if form == "text" and wants_colours(sys.stdout):
                print_coloured(text, sys.stdout)
            else:
                click.echo(text, nl=False)
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever reads has read enough
                raise
            raise UserError(
                f"cannot write to standard output: {error.strerror}"
            ) from None
        return
    try:
        # Names of files need not be text.
        output.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror}") from None
