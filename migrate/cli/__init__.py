"""The ``tfmigrate`` command line: a thin table of lazily loaded commands.

Each command lives in a module of its own which is imported only when the
command (or its help) is asked for, so that ``tfmigrate --help`` stays fast and
``scan`` and ``rewrite`` never pay for TensorFlow.
"""

from __future__ import annotations

import importlib
import sys

import click

from .. import __version__

# Command name, which its module has too -> one-line help, repeated here so that
# `tfmigrate --help` imports no command.
COMMANDS = {
    "scan": "List legacy code and what a rewrite makes of it.",
    "rewrite": "Rewrite legacy code to plain TF2.",
    "undo": "Restore the files of the last rewrite.",
    "rules": "List the rules.",
    "explain": "Show the page of a rule.",
    "run": "Run an unedited TF 1 program on today's TensorFlow.",
    "verify": "Prove that two programs train the same.",
    "launch": "Run a script as a cluster on this machine.",
    "doctor": "Check TF_CONFIG and the environment.",
    "demo": "Show all of this on a bundled program.",
    "checkpoint": "List, compare and convert TF1 and TF2 checkpoints.",
    "data": "Put a data set where tf.keras.datasets finds it.",
}


class LazyGroup(click.Group):
    """A click group that imports a command's module on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name}", __name__)
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from ..errors import did_you_mean

            near = did_you_mean(args[0], COMMANDS)
            ctx.fail(f"No such command {args[0]!r}.{near}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


EPILOG = """\b
Examples:
  tfmigrate scan src/                what is legacy here, and what would happen
  tfmigrate run train.py --epochs 2  run an unedited TF1 script on today's TF
  tfmigrate rewrite src/ --diff      show the rewrite without writing it
  tfmigrate verify old.py new.py     do both train the same?
"""


def _show_version(context: click.Context) -> None:
    """Versions without imports: asking TensorFlow itself would take seconds."""
    from importlib import metadata

    click.echo(f"tfmigrate {__version__}")
    click.echo(f"python {sys.version.split()[0]}")
    for name in ("libcst", "click", "tensorflow", "tf_keras", "keras"):
        try:
            click.echo(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            click.echo(f"{name} not installed")
    context.exit()


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, value: _show_version(context) if value else None,
    help="Show the versions of tfmigrate and its libraries.",
)
def cli() -> None:
    """Run programs of TensorFlow 1 today, rewrite them, prove both train the same."""


def main() -> None:
    """Entry point: any failure ends with status 2 and a plain message."""
    from .endings import run_to_the_end

    run_to_the_end(cli)
