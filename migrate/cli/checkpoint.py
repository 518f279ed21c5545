"""``tfmigrate checkpoint``: what is in a checkpoint, and moving it on."""

from __future__ import annotations

import json
import os
import sys
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UserError, missing, require_tensorflow
from ..report.printable import printable

if TYPE_CHECKING:
    from ..verify.checkpoints.contents import Checkpoint

EPILOG = """\b
Examples:
  tfmigrate checkpoint list runs/model.ckpt-1000
  tfmigrate checkpoint diff old/ new/ --tolerance 1e-6
  tfmigrate checkpoint convert old/ --like new/ckpt-1 --output moved/ckpt-1
"""


@click.group(epilog=EPILOG)
def checkpoint() -> None:
    """List, compare and convert TF1 and TF2 checkpoints.

    PATH is a checkpoint's prefix, a directory (its latest checkpoint) or a
    SavedModel.
    """


@checkpoint.command("list")
@click.argument("path")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text"
)
def list_(path: str, format_: str) -> None:
    """List the values of a checkpoint and what they are."""
    found = _opened(path)
    if format_ == "json":
        rows = [vars(entry) for entry in found.entries]
        click.echo(
            json.dumps(
                {"kind": found.kind, "step": found.step, "entries": rows}, indent=1
            )
        )
        return
    click.echo(f"{found.path}: {found.kind}, step {found.step}")
    width = max((len(printable(e.name)) for e in found.entries), default=0)
    for entry in found.entries:
        what = entry.role
        if entry.role == "slot":
            what = f"slot {entry.slot} of {entry.weight}"
        shape = list(entry.shape)
        name = printable(entry.name)
        click.echo(f"{name:<{width}}  {entry.dtype:<8} {shape!s:<16} {printable(what)}")
    _next(
        f"`tfmigrate checkpoint convert {path} --like OTHER -o PREFIX` gives these "
        "values the form of a checkpoint that another program wrote"
    )


@checkpoint.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Largest absolute difference that counts as equal.",
)
def diff(a: str, b: str, tolerance: float) -> None:
    """Compare two checkpoints of any kind; exit 1 if they differ."""
    from ..verify.checkpoints.compare import compare

    result = compare(_opened(a), _opened(b), tolerance=tolerance)
    for line in result.lines:
        click.echo(printable(line))
    click.echo(
        f"{result.compared} values compared, largest difference {result.largest:.3g}"
    )
    if not result.equal:
        _next(
            "--tolerance takes rounding as equal; `tfmigrate verify` tells whether "
            "two programs train alike"
        )
    sys.exit(0 if result.equal else 1)


@checkpoint.command()
@click.argument("source")
@click.option(
    "--like",
    required=True,
    metavar="PATH",
    help="A checkpoint written by the program that shall restore the result.",
)
@click.option("-o", "--output", required=True, metavar="PREFIX", help="Where to write.")
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="NEW=OLD",
    help="Which source weight stands for a template weight (repeatable).",
)
@click.option("--force", is_flag=True, help="Write over another checkpoint.")
def convert(
    source: str, like: str, output: str, maps: tuple[str, ...], force: bool
) -> None:
    """Give SOURCE's values the form of another checkpoint.

    Weights are matched by name, slots by the weight they belong to. The step
    goes along; what has no counterpart keeps the template's value and is
    listed.
    """
    from ..verify.checkpoints import convert as converter

    renames = {}
    for item in maps:
        new, found, old = item.partition("=")
        if not found or not new or not old:
            raise UserError(f"--map {item}: expected NEW=OLD")
        renames[new] = old
    done = converter.convert(
        _opened(source), _opened(like), output, renames=renames, force=force
    )
    for entry, origin in done.replaced:
        click.echo(f"{printable(entry.name)} <- {printable(origin.name)}")
    for entry in done.computed:
        click.echo(f"{printable(entry.name)} <- computed from the step")
    for entry in done.kept:
        click.echo(f"{printable(entry.name)}: kept the template's value")
    for entry in done.unused:
        click.echo(f"not used: {printable(entry.name)}")
    click.echo(output)
    if any(entry.role in ("weight", "slot") for entry in (*done.kept, *done.unused)):
        _next("--map NEW=OLD says which weight is which, where names differ")
    _next(
        f"start the program that wrote {like} with model_dir "
        f"{Path(output).parent}; it goes on from the step"
    )


def _opened(path: str) -> Checkpoint:
    """An open checkpoint; that there is none is said before TensorFlow is loaded."""
    if not glob(f"{escape(path)}*"):
        raise missing(Path(path))
    require_tensorflow("checkpoint")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from ..verify.checkpoints.contents import open_checkpoint

    return open_checkpoint(path)


def _next(what: str) -> None:
    """What to do now; beside the output, which scripts read."""
    click.echo(f"next: {what}", err=True)
