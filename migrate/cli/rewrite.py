"""``tfmigrate rewrite``: legacy programs become plain TF2."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from ..errors import UserError, require_tensorflow
from ..forms.text import diff_text, text_report
from ..options import Job
from ..project.files import project_root
from ..project.journal import Change, lock, write_all
from ..project.mirror import Mirror
from ..project.vcs import require_clean
from ..project.writes import Target
from ..report.findings import Outcome
from ..report.model import FileResult, FileStatus, Report
from ..report.printable import printable
from ..rewrite.native.chosen_strategy import STRATEGIES
from .common import (
    Asked,
    NamedPath,
    exit_code,
    file_options,
    run_with_progress,
    write_report,
)

EPILOG = """\b
Examples:
  tfmigrate rewrite train.py --diff       show what would change
  tfmigrate rewrite src/                  rewrite in place (undo: tfmigrate undo)
  tfmigrate rewrite src/ --out migrated/  write a copy of the tree instead
  tfmigrate rewrite src/ --strategy mirrored   train on all GPUs of a machine
  tfmigrate rewrite src/ --check          exit 1 if anything is left to do
  tfmigrate rewrite train.py --prove      train old and new side by side first
  tfmigrate rewrite . --prove-command 'python -m trainer.task --steps 20'
  tfmigrate rewrite - < old.py > new.py   as a filter

\b
Exit status: 0 done and nothing left; 1 something is left (or pending, with
--check and --diff), or not proved with --prove; 2 a file could not be processed
or the usage was wrong.
"""


@click.command(epilog=EPILOG)
@file_options
@click.option(
    "--requirements",
    is_flag=True,
    help="Also edit requirements*.txt, setup.py, setup.cfg, pyproject.toml, "
    "environment.yml and Dockerfiles that install TensorFlow 1.",
)
@click.option(
    "--strategy",
    type=click.Choice(("keep", *STRATEGIES)),
    default="keep",
    show_default=True,
    help="What programs that become native train on; with keep, on what they say.",
)
@click.option("--diff", is_flag=True, help="Print a diff and write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if work is left.")
@click.option(
    "--out",
    type=NamedPath(path_type=Path, file_okay=False),
    help="Write the files to a mirror tree and leave the originals.",
)
@click.option("--force", is_flag=True, help="Let --out overwrite files.")
@click.option(
    "--allow-dirty", is_flag=True, help="Rewrite files that git could not restore."
)
@click.option(
    "--prove",
    is_flag=True,
    help="Run each program as it was and as it would be, in copies of the project, "
    "from the same weights on the same batches; one that trains otherwise is kept.",
)
@click.option(
    "--prove-command",
    metavar="COMMAND",
    help="What --prove runs, from here, instead of each program without arguments.",
)
@click.option(
    "--prove-steps",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Training steps that --prove compares.",
)
@click.option(
    "--prove-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help="What one run of a program may take; one that takes more is not proved.",
)
def rewrite(
    asked: Asked,
    requirements: bool,
    strategy: str,
    diff: bool,
    check: bool,
    out: Path | None,
    force: bool,
    allow_dirty: bool,
    prove: bool,
    prove_command: str | None,
    prove_steps: int,
    prove_seconds: float,
) -> None:
    """Rewrite legacy TensorFlow code to plain TF2, in place.

    Directories are searched for .py and .ipynb files. Files that git could not
    restore are refused without --allow-dirty; `tfmigrate undo` reverts a run.

    Nothing of your code is run, unless --prove asks for it.
    """
    job = asked.job(requirements=requirements, strategy=strategy)
    paths = asked.paths
    if asked.is_stdin():
        if out is not None:
            raise UserError("- reads one program from stdin and takes no other path")
        if prove or prove_command:
            raise UserError("--prove runs programs in their folder; name a file")
        sys.exit(_filter(asked, job, diff=diff, check=check))
    root = project_root(paths)
    files = asked.files()

    trial = None
    if prove or prove_command:
        require_tensorflow("--prove")
        from ..verify.prove import Trial

        trial = Trial(root, Path.cwd(), prove_steps, prove_seconds, prove_command)

    def run(job: Job) -> Report:
        return run_with_progress(files, job, asked.jobs, asked.timeout)

    def rewritten() -> Report:
        report = run(job)
        if trial is None:
            return report
        from ..verify.prove import proved

        return proved(report, job, run, trial, _say)

    if diff or check:
        report = rewritten()
    elif out is not None:
        mirror = Mirror.of(paths, out, force=force)
        mirror.check(files)
        report = rewritten()
        report = _with_failures(report, mirror.write(report.results))
        report = replace(report, mirror=out)
        beside = mirror.left_behind(paths, [one.path for one in report.results])
        if beside:
            _say(f"note: {beside}")
    else:
        if not allow_dirty:
            require_clean(root, paths)
        with lock(root):
            # Which files they are is asked before they are read: what is written
            # must go to these, whatever lies in their places then.
            targets = {path: Target.of(path) for path in files}
            report = rewritten()
            report = _write(report, root, targets)
            report = replace(report, committed=not allow_dirty)
    report = replace(report, asked=shlex.join(map(str, paths)))
    if diff and asked.format_ == "text":
        write_report("".join(map(diff_text, report.changed)), asked.output)
        text = text_report(report, written=False, quiet=asked.quiet)
        click.echo(text, err=True, nl=False)
    else:
        asked.write(report, written=not (diff or check))
    sys.exit(exit_code(report, pending=bool(report.changed) and (diff or check)))


def _say(line: str) -> None:
    click.echo(printable(line), err=True)


def _write(report: Report, root: Path, targets: Mapping[Path, Target]) -> Report:
    changes = {}
    for result in report.changed:
        assert result.new is not None
        target = targets.get(result.path) or Target.of(result.path)
        # What is added may stand there already, as an earlier run made it.
        old = None if result.added and not result.old else result.old
        changes[result.path] = Change(target, old, result.new)
    written = write_all(root, changes)
    for path, remark in sorted(written.remarks.items()):
        click.echo(f"note: {printable(path)}: {remark}", err=True)
    return _with_failures(report, written.failures)


def _with_failures(report: Report, failures: Mapping[Path, str]) -> Report:
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
    return replace(report, results=tuple(results))


def _filter(asked: Asked, job: Job, *, diff: bool, check: bool) -> int:
    """stdin to stdout; the report goes to stderr."""
    raw, report = asked.report_on_stdin(job)
    result = report.results[0]
    if diff:
        click.echo(diff_text(result), nl=False)
    elif not check:
        sys.stdout.buffer.write(result.new if result.new is not None else raw)
        sys.stdout.buffer.flush()
    written = not (diff or check)
    text = text_report(report, written=written, quiet=asked.quiet, steps=not written)
    click.echo(text, err=True, nl=False)
    return exit_code(report, pending=bool(report.changed) and (diff or check))
