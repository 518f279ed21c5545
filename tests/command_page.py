"""Write docs/commands.md anew: what each command says of itself.

python -m tests.command_page [FILE]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from tfmigrate.cli import cli

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"


def commands(
    command: click.Command, name: str, above: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """The help of a command and of those below it, by what one types."""
    context = click.Context(
        command,
        info_name=name,
        parent=above,
        terminal_width=88,
        **command.context_settings,
    )
    yield context.command_path, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from commands(below, name, context)


def page() -> str:
    """The text of the page."""
    parts = ["# Commands", "Written by `python -m tests.command_page`; do not edit."]
    for path, said in commands(cli, "tfmigrate"):
        parts.append(f"## {path}\n\n```text\n{said}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1] if sys.argv[1:] else PAGE).write_text(page(), "utf-8")
