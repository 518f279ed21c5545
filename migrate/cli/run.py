"""``tfmigrate run``: an unedited TF 1 program on today's TensorFlow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click

from ..errors import UserError, missing, require_tensorflow

# The launcher is found by path, so that this process never imports the runtime
# (and with it TensorFlow).
_START = Path("launcher") / "start.py"

EPILOG = """\b
Examples:
  tfmigrate run train.py --epochs 2           an unedited script with arguments
  tfmigrate run --replicas 2 train.py         2 CPU replicas stand in for GPUs
  tfmigrate run -m trainer.task --job-dir x   a module, as python -m would
  tfmigrate run notebook.ipynb                the code cells, top to bottom
  tfmigrate run --trace-legacy train.py       list the legacy symbols it used

Options of tfmigrate come before the program; everything after it is the
program's own. The exit status is the program's own too.
"""


@click.command(
    epilog=EPILOG,
    context_settings={
        "ignore_unknown_options": False,
        "allow_interspersed_args": False,
        "help_option_names": ["-h", "--help"],
    },
)
@click.option(
    "-m", "--module", is_flag=True, help="PROGRAM is a module name, not a file."
)
@click.option(
    "--replicas",
    type=click.IntRange(min=1),
    metavar="N",
    help="Let N CPU devices stand in for N GPUs.",
)
@click.option(
    "--trace-legacy",
    is_flag=True,
    help="At the end, list the legacy TensorFlow symbols used (on stderr).",
)
@click.option(
    "--full-traceback",
    is_flag=True,
    help="Show tfmigrate's own frames in tracebacks as well.",
)
@click.option(
    "--tf",
    "written_for",
    type=click.Choice(["auto", "1", "2"]),
    default="auto",
    show_default=True,
    help="The TensorFlow that PROGRAM was written for: 2 is for programs of TF 2.0 to "
    "2.15, which stay eager. By itself it looks at the names that PROGRAM uses.",
)
@click.option(
    "--shell-lines", is_flag=True, help="Also run the !shell lines of a notebook."
)
@click.argument("program")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run(
    *,
    module: bool,
    replicas: int | None,
    trace_legacy: bool,
    full_traceback: bool,
    shell_lines: bool,
    written_for: str,
    program: str,
    args: tuple[str, ...],
) -> None:
    """Run an unedited PROGRAM (script, module or notebook) of old TensorFlow.

    The program keeps its `import tensorflow as tf`, its tf.contrib, its
    Estimators and sessions; graph mode is the default of a TF 1 program, as it was.
    """
    require_tensorflow("`tfmigrate run`")
    _require_json(os.environ.get("TF_CONFIG"))
    if module:
        kind = "module"
    else:
        kind = _kind_of(program)
    rest = list(args)
    if rest[:1] == ["--"]:
        del rest[0]
    environment = dict(os.environ)
    environment["TFMIGRATE_RUN"] = json.dumps(
        {
            "replicas": replicas,
            "trace_legacy": trace_legacy,
            "full_traceback": full_traceback,
            "shell_lines": shell_lines,
            "version": _version(written_for, program, kind),
        }
    )
    command = [
        sys.executable,
        *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
        str(_launcher()),
        kind,
        program,
        *rest,
    ]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        # The program takes this process over: its signals and status are its own.
        os.execve(sys.executable, command, environment)
    sys.exit(subprocess.call(command, env=environment))


def _require_json(tf_config: str | None) -> None:
    """Refuse a TF_CONFIG that the first RunConfig would stumble over."""
    try:
        json.loads(tf_config or "{}")
    except ValueError as error:
        raise UserError(
            f"TF_CONFIG is not JSON: {error}", hint="`tfmigrate doctor` checks it"
        ) from None


def _version(written_for: str, program: str, kind: str) -> int:
    """The TensorFlow that a program is given: 1 or 2."""
    if written_for != "auto":
        return int(written_for)
    path = Path(program)
    if kind == "module":
        folder = Path(*program.split("."))
        path = folder / "__main__.py" if folder.is_dir() else folder.with_suffix(".py")
    elif path.is_dir():
        path /= "__main__.py"
    from ..launch.generation import generation_of

    return generation_of(path)


def _kind_of(program: str) -> str:
    path = Path(program)
    if not path.exists():
        if path.name == program and path.suffix not in (".py", ".ipynb"):
            raise UserError(
                f"no such file or directory: {program}",
                hint=f"if this is a module, use: tfmigrate run -m {program}",
            )
        raise missing(path)
    if path.is_dir() and not (path / "__main__.py").is_file():
        raise UserError(
            f"{program} is a folder without a __main__.py",
            hint="name the script to run",
        )
    return "notebook" if path.suffix == ".ipynb" else "script"


def _launcher() -> Path:
    from importlib.util import find_spec

    spec = find_spec("tfmigrate.compat")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        start = Path(folder) / _START
        if start.is_file():
            return start
    raise UserError(
        "the runtime part of tfmigrate (tfmigrate.compat) is not installed",
        hint="install tfmigrate once more",
    )
