"""``tfmigrate undo``: the files as they were before the last rewrite."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from ..project.files import from_here, project_root
from ..project.journal import lock
from ..project.journal import undo as undo_last
from ..report.printable import printable

EPILOG = """\b
Examples:
  tfmigrate undo                 in the project that was rewritten
  tfmigrate undo path/to/project
  tfmigrate undo --force         also files edited since then
"""


@click.command(epilog=EPILOG)
@click.argument("path", default=".", type=click.Path(path_type=Path, exists=True))
@click.option("--force", is_flag=True, help="Restore files edited since the rewrite.")
def undo(path: Path, force: bool) -> None:
    """Restore the files of the last rewrite from its journal."""
    root = project_root([path])
    # Where nothing was ever rewritten, a folder for the lock would be a trace.
    with lock(root) if (root / ".tfmigrate").exists() else nullcontext():
        result = undo_last(root, force=force)
    for restored in result.restored:
        there = os.path.lexists(restored)
        done = "restored" if there else "removed, as it was not there before"
        click.echo(f"{printable(from_here(restored))}: {done}")
    for changed, remark in sorted(result.remarks.items()):
        click.echo(f"note: {printable(from_here(changed))}: {remark}", err=True)
    for refused, reason in sorted(result.refused.items()):
        click.echo(f"{printable(from_here(refused))}: not restored: {reason}")
    click.echo(
        f"{len(result.restored)} restored, {len(result.unchanged)} already as before, "
        f"{len(result.refused)} not restored"
    )
    if result.refused:
        click.echo("next: `tfmigrate undo --force` restores these too; edits are lost")
    elif result.restored:
        click.echo("next: `tfmigrate scan` tells what a rewrite would do, and why")
    sys.exit(2 if result.refused else 0)
