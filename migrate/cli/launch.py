"""``tfmigrate launch``: a cluster on this machine, for any script."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from ..errors import UserError, missing, require_tensorflow

if TYPE_CHECKING:
    from ..launch.cluster import Task

EPILOG = """\b
Examples:
  tfmigrate launch --workers 2 train.py
  tfmigrate launch --workers 2 --ps 1 --evaluator --run old_train.py --steps 100
  tfmigrate launch --workers 2 --restart-failed 1 --logs logs/ -m trainer.task

\b
Options of tfmigrate come before the program; everything after it is the
program's own. Exit status: 0 all tasks that train ended with 0; 1 one failed;
2 the usage was wrong; 130 stopped with Ctrl-C.
"""


@click.command(
    epilog=EPILOG,
    context_settings={
        "allow_interspersed_args": False,
        "help_option_names": ["-h", "--help"],
    },
)
@click.option("--workers", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--ps", type=click.IntRange(min=0), default=0, help="Parameter servers.")
@click.option(
    "--chief/--no-chief",
    default=None,
    help="A chief beside the workers.  [default: with --ps]",
)
@click.option("--evaluator", is_flag=True, help="A task that evaluates checkpoints.")
@click.option(
    "-m", "--module", is_flag=True, help="PROGRAM is a module name, not a file."
)
@click.option(
    "--run",
    "legacy",
    is_flag=True,
    help="Run PROGRAM, which is legacy, as `tfmigrate run` does.",
)
@click.option(
    "--restart-failed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Start a task that fails again, up to N times each.",
)
@click.option(
    "--logs",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the tasks' logs.  [default: a new one in the temporary folder]",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop everything, with status 1, when training takes longer.",
)
@click.option(
    "--evaluator-wait",
    type=click.FloatRange(min=0),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="What the evaluator may still do when training has ended.",
)
@click.option(
    "--gpus-per-task",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="GPUs for each chief, worker and evaluator; 0 hides them all.",
)
@click.argument("program")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def launch(
    workers: int,
    ps: int,
    chief: bool | None,
    evaluator: bool,
    module: bool,
    legacy: bool,
    restart_failed: int,
    logs: Path | None,
    time_limit: float | None,
    evaluator_wait: float,
    gpus_per_task: int,
    program: str,
    args: tuple[str, ...],
) -> None:
    """Run PROGRAM as a cluster of processes on this machine.

    Each task gets its own TF_CONFIG, a log file, and its name in front of its
    lines. When one fails, or you press Ctrl-C, all of them end. A terminal shows the
    step, the loss and the speed of each in its last lines.
    """
    if os.name != "posix":
        raise UserError("launch needs a POSIX system (Linux or macOS)")
    from ..launch.cluster import local_cluster
    from ..launch.foot import Foot
    from ..launch.processes import Job, Settings

    if not module and not Path(program).exists():
        raise missing(Path(program))
    if legacy:
        require_tensorflow("--run")
    if chief is None:
        chief = ps > 0
    if ps and not chief:
        raise UserError(
            "parameter servers need a chief that coordinates", hint="drop --no-chief"
        )
    if not workers and not chief:
        raise UserError(
            "a cluster needs a worker or a chief", hint="--workers 1, or --chief"
        )
    tasks = local_cluster(workers=workers, ps=ps, chief=chief, evaluator=evaluator)
    command = _command(program, args, module=module, legacy=legacy)
    folder = _log_folder(logs)
    gpus = _gpus(tasks, gpus_per_task)

    def environment(task: Task) -> dict[str, str]:
        return {
            **os.environ,
            "TF_CONFIG": task.tf_config,
            "PYTHONUNBUFFERED": "1",
            "CUDA_VISIBLE_DEVICES": gpus.get(task.name, "-1"),
        }

    for task in tasks:
        paste = f"TF_CONFIG={shlex.quote(task.tf_config)} {shlex.join(command)}"
        _say(f"{task.name}: {paste}")
    settings = Settings(
        logs=folder,
        restarts=restart_failed,
        evaluator_seconds=evaluator_wait,
        limit=time_limit,
    )
    say, write = _say, _write
    if sys.stdout.isatty() and sys.stderr.isatty():
        foot = Foot(_write)
        say, write = foot.say, foot.write
    job = Job(tasks, command, environment, settings, say, write)
    ended = job.run()
    _say(f"logs: {folder}")
    if ended.status == 1:
        tail = _tail(ended.log)
        raise Failed(f"{ended.reason}{tail}")
    if ended.reason is not None:
        _say(ended.reason)
    sys.exit(ended.status)


class Failed(click.ClickException):
    """A task failed, or time was up: status 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """As every failure is told."""
        click.echo(f"error: {self.message}", file, err=True)


def _command(
    program: str, args: tuple[str, ...], *, module: bool, legacy: bool
) -> list[str]:
    rest = list(args[1:] if args[:1] == ("--",) else args)
    head = [sys.executable]
    if legacy:
        head += ["-m", "tfmigrate", "run"]
    return [*head, *(["-m"] if module else []), program, *rest]


def _log_folder(logs: Path | None) -> Path:
    if logs is None:
        return Path(tempfile.mkdtemp(prefix="tfmigrate-launch-"))
    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {logs}: {error.strerror}") from None
    old = sorted(logs.glob("*.log"))
    if old:
        raise UserError(
            f"{old[0]} is there already", hint="name a new folder for the logs"
        )
    return logs


def _gpus(tasks: Sequence[Task], each: int) -> dict[str, str]:
    """Which GPUs each task sees; servers need none."""
    found: dict[str, str] = {}
    given = 0
    for task in tasks:
        if each and task.role != "ps":
            found[task.name] = ",".join(str(given + i) for i in range(each))
            given += each
    return found


def _tail(log: Path | None, lines: int = 12) -> str:
    if log is None:
        return ""
    told = [x for x in log.read_text("utf-8", "replace").splitlines() if x.strip()]
    shown = "".join(f"\n  {line}" for line in told[-lines:])
    # Estimators that name no strategy.
    chief = '; --chief adds a "chief"' if 'must have one "chief"' in shown else ""
    return f"{shown}\nhint: all of it is in {log}{chief}"


def _say(text: str) -> None:
    click.echo(f"tfmigrate: {text}", err=True)


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
