"""``tfmigrate verify``: do two programs, or a program and a recording, agree?"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UserError, require_tensorflow
from .common import require_writable

if TYPE_CHECKING:
    from ..verify.parity import Options
    from ..verify.sides import Command

EPILOG = """\b
Examples:
  tfmigrate verify old/train.py new/train.py
  tfmigrate verify old.py new.py --replicas 2 --steps 100 --report parity.html
  tfmigrate verify old.py new.py --seeds 3        compare accuracies as well
  tfmigrate verify recording/ new.py              against a recording
  tfmigrate verify /runs/2019-model new.py        against an old run directory
  tfmigrate verify old.py new.py -- --epochs 2    arguments for both programs
  tfmigrate verify old/ new/ -m trainer.task      a module of both folders
  tfmigrate verify old/ new/ -- python train.py --steps 20
                                                  a command, run in both trees
  tfmigrate verify old/ new/ -- DATA=/data python -m pkg.main
  tfmigrate verify old/export/1 new/export/1      two SavedModels
  tfmigrate verify old.py new.py --legacy-python /opt/tf115/bin/python
                                                  and real TensorFlow 1.x beside them

\b
Exit status: 0 parity, 1 no parity, 2 something could not be run or read.
"""

_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(epilog=EPILOG)
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.argument(
    "program_args", metavar="[-- ARGS | -- COMMAND]", nargs=-1, type=click.UNPROCESSED
)
@click.option(
    "-m",
    "--module",
    metavar="MODULE",
    help="A and B are folders in which this module is run, as python -m would.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="Training steps to compare; 0 lets both programs run to their end.",
)
@click.option(
    "--replicas",
    type=click.IntRange(min=1),
    help="Replicas, on CPU devices.  [default: 1, or as recorded]",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Also train both to their end with so many seeds, and test the "
    "accuracies for equivalence.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    help="Relative difference of a loss that counts as rounding.  [default: 1e-05]",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=0.01,
    show_default=True,
    help="Difference of accuracy that counts as none (with --seeds).",
)
@click.option(
    "--time-limit",
    "seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End a program that runs longer, each time it is run.",
)
@click.option(
    "--report",
    type=_FILE,
    help="Write an HTML report with loss curves.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print on standard output.",
)
@click.option(
    "--keep",
    type=_FOLDER,
    help="Keep recordings and the programs' output in this folder.",
)
@click.option(
    "--data-dir",
    type=_FOLDER,
    help="Folder with the full Fashion-MNIST, instead of the bundled sample.",
)
@click.option(
    "--legacy-python",
    type=_FILE,
    help="Interpreter with a real TensorFlow 1.x: the legacy side runs there as "
    "well, and both sides are compared with that.",
)
@click.option(
    "--env",
    "environment",
    metavar="NAME=VALUE",
    multiple=True,
    help="Environment variable for both programs; may be repeated.",
)
def verify(
    first: Path,
    second: Path,
    program_args: tuple[str, ...],
    module: str | None,
    report: Path | None,
    style: str,
    keep: Path | None,
    environment: tuple[str, ...],
    **given: Any,
) -> None:
    """Compare how A and B train, from the same weights on the same batches.

    A and B are Python programs or notebooks (legacy or TF2), recordings, or run
    directories with event files and checkpoints. Programs are run unedited, each in
    a process of its own and in a copy of its directory: what they write there is
    thrown away. What they write by absolute paths, or into files and folders too
    large to copy, is not kept apart but named.

    Two folders with a command after `--` are two versions of a project: the command
    is run in each. Two SavedModels are compared by their signatures and by what they
    answer to the same inputs.
    """
    require_tensorflow("verify")
    from ..verify import models
    from ..verify.html import render
    from ..verify.parity import Options
    from ..verify.parity import verify as compare
    from ..verify.sides import look_at, project_side
    from ..verify.table import as_json, print_verdict

    if given["seeds"] == 1:
        raise UserError(
            "one seed tells nothing about the spread of accuracies",
            hint="use --seeds 3 or more",
        )
    require_writable(report)
    python = given["legacy_python"]
    if python is not None and not python.is_file():
        raise UserError(f"--legacy-python {python}: no such file")
    saved = models.model_in(first), models.model_in(second)
    if saved[0] is not None and saved[1] is not None:
        with _scratch() as work:
            found = models.compare_models(
                saved[0],
                saved[1],
                work=work,
                say=_say,
                tolerance=given["tolerance"],
                legacy_python=python,
            )
        _write(report, models.model_page, found)
        if style == "json":
            click.echo(json.dumps(models.model_json(found), indent=1))
        else:
            models.print_models(found, sys.stdout)
        sys.exit(0 if found.parity else 1)
    variables = {}
    for text in environment:
        variable, equals, variables[variable] = text.partition("=")
        if not equals or not variable:
            raise UserError(f"--env {text}: not of the form NAME=VALUE")
    command = _command(first, second, module, program_args)
    if command is not None:
        sides = project_side(first, command), project_side(second, command)
        program_args = command.arguments
        variables = {**command.env, **variables}
    else:
        sides = look_at(first, module), look_at(second, module)
    given["steps"] = given["steps"] or None
    options = Options(args=program_args, env=variables, **given)
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UserError(f"{keep}: not empty", hint="name a new folder")
    with _scratch() if keep is None else nullcontext(keep) as work:
        verdict = compare(*sides, options, work=work, say=_say)
    _write(report, render, verdict)
    if style == "json":
        click.echo(json.dumps(as_json(verdict), indent=1))
    else:
        print_verdict(verdict, sys.stdout)
        _say(f"next: {_next(verdict.parity, options, report, keep)}")
    sys.exit(0 if verdict.parity else 1)


def _write(report: Path | None, page: Callable[[Any], str], verdict: Any) -> None:
    if report is not None:
        report.write_text(page(verdict), encoding="utf-8")
        _say(f"report: {report}")


def _command(
    first: Path, second: Path, module: str | None, words: tuple[str, ...]
) -> Command | None:
    """The command to run in two trees; None where A and B say what runs."""
    from ..verify.recording import is_recording
    from ..verify.sides import Command

    trees = (first, second)
    if module is not None or not all(tree.is_dir() for tree in trees):
        return None
    if not words or all(is_recording(tree) for tree in trees):
        return None
    command = Command.read(words)
    if command is None:
        raise UserError(
            f"{' '.join(words)}: not a command that starts a Python program",
            hint="after two folders and --, say `python SCRIPT` or `python -m MODULE`",
        )
    return command


def _next(
    parity: bool, options: Options, report: Path | None, keep: Path | None
) -> str:
    """What to do with a verdict."""
    if not parity:
        if report is None:
            return "--report FILE draws where the two part, with likely causes"
        if keep is None:
            return "--keep FOLDER keeps both programs' output and what they recorded"
        return f"{keep} has both programs' output; mend the cause and compare again"
    if options.steps:
        return "--steps 0 compares all of the training, --replicas 2 with replicas"
    if not options.seeds:
        return "--seeds 3 compares what they reach from weights drawn anew"
    return "put the change in with this verdict; `tfmigrate undo` is still there"


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for what the programs write; logs that a message names stay."""
    folder = Path(tempfile.mkdtemp(prefix="tfmigrate-verify-"))
    kept: list[Path] = []
    try:
        yield folder
    except UserError as error:
        told = f"{error.message} {error.hint}"
        kept = [log for log in folder.rglob("program.log") if str(log) in told]
        raise
    finally:
        for file in folder.rglob("*") if kept else ():
            if file not in kept and not file.is_dir():
                file.unlink()
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def _say(text: str) -> None:
    click.echo(text, err=True)
