"""What scan and rewrite share: arguments, the run, progress, exit codes."""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from ..errors import UserError
from ..forms.render import render
from ..options import Job, RewriteOptions
from ..project.cache import Cache
from ..project.config import Config, load_config
from ..project.looking import look_for_files
from ..project.selection import Selection
from ..project.workers import Limits
from ..report.colours import print_coloured, wants_colours
from ..report.model import FileResult, Report


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


@dataclass(frozen=True)
class Asked:
    """What both commands are asked: files, rules, work and form of the report."""

    paths: tuple[Path, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    exclude: tuple[str, ...]
    format_: str
    output: Path | None
    quiet: bool
    jobs: int
    timeout: float
    py2: bool

    @cached_property
    def config(self) -> Config:
        """Settings of pyproject.toml, which are the defaults."""
        return load_config([p for p in self.paths if str(p) != "-"])

    def job(self, *, requirements: bool = False, strategy: str = "keep") -> Job:
        """The job of a command line; refuses a report that could not be written."""
        require_writable(self.output)
        selection = Selection(
            select=_rules("select", self.select, self.config),
            ignore=_rules("ignore", self.ignore, self.config),
        )
        options = RewriteOptions(strategy=strategy)
        return Job(options, selection, self.py2, requirements)

    def is_stdin(self) -> bool:
        """Whether a program is read from stdin; refuses other paths beside it."""
        found = any(str(path) == "-" for path in self.paths)
        if found and len(self.paths) > 1:
            raise UserError("- reads one program from stdin and takes no other path")
        return found

    def files(self) -> list[Path]:
        """The files a command is about, as they are shown: from here if possible."""
        exclude = self.exclude or self.config.lists("exclude")
        return look_for_files(self.paths, exclude, Limits(seconds=self.timeout))

    def report_on_stdin(self, job: Job) -> tuple[bytes, Report]:
        """What stdin holds, and the report of running the job on it."""
        from ..rewrite.run import one_source

        raw = sys.stdin.buffer.read()
        path = Path("stdin.ipynb" if raw.lstrip()[:1] == b"{" else "stdin.py")
        return raw, one_source(path, raw, job, Limits(seconds=self.timeout))

    def write(self, report: Report, *, written: bool) -> None:
        """The report in the form and to the place that were asked for."""
        form = self.format_
        text = render(report, form, written=written, quiet=self.quiet)
        write_report(text, self.output, form=form)


def file_options(function: Callable[..., None]) -> Callable[..., None]:
    """Options about files, rules and output that both commands take, as one value."""

    @functools.wraps(function)
    def command(**given: Any) -> None:
        asked = Asked(**{one.name: given.pop(one.name) for one in fields(Asked)})
        function(asked, **given)

    path = NamedPath(path_type=Path)
    paths = NamedPath(path_type=Path, allow_dash=True)
    for option in (
        click.option(
            "--py2",
            is_flag=True,
            help="Try to convert Python 2 files to Python 3 first.",
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
            "-j",
            "--jobs",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Processes to use (0: one per core, 8 at most).",
        ),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            help="Programs and the summary only (text report).",
        ),
        click.option(
            "-o",
            "--output",
            type=path,
            help="Write the report to a file instead of stdout.",
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
            "--exclude",
            multiple=True,
            metavar="PATTERN",
            help="Leave out files and directories (.gitignore syntax).",
        ),
        click.option(
            "--ignore", multiple=True, metavar="RULE", help="Not these rules."
        ),
        click.option(
            "--select", multiple=True, metavar="RULE", help="Only these rules."
        ),
        click.argument("paths", nargs=-1, required=True, type=paths),
    ):
        command = option(command)
    return command


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
