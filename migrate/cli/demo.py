"""``tfmigrate demo``: the whole story on the bundled Fashion-MNIST program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import require_tensorflow

if TYPE_CHECKING:
    from ..verify.demo import Told

EPILOG = """\b
Examples:
  tfmigrate demo                      into ./demo-output
  tfmigrate demo --out /tmp/story
  tfmigrate demo --sample             the bundled 3,000 images, even if all are here

\b
Exit status: 0 both programs train the same, 1 they do not, 2 something failed.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo-output"),
    show_default=True,
    help="Folder for everything the demo writes.",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with the full Fashion-MNIST.",
)
@click.option("--sample", is_flag=True, help="Use the bundled sample of the data.")
def demo(out: Path, data_dir: Path | None, sample: bool) -> None:
    """Run a TF 1.12 program today, rewrite it, and prove that both train the same.

    The program trains a small network on Fashion-MNIST with two replicas of the
    model, here on CPU devices. Takes a few minutes and needs no network.
    """
    require_tensorflow("the demo")
    from ..verify.demo import run_demo

    told = run_demo(out, data_dir=data_dir, sample=sample, say=_say)
    _print(told)
    sys.exit(0 if told.verdict.parity else 1)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _print(told: Told) -> None:
    from rich.console import Console
    from rich.table import Table

    from ..verify.table import print_verdict

    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    table = Table(title=f"{told.examples:,} images, 2 replicas", pad_edge=False)
    table.add_column("")
    table.add_column("legacy program, run by compat", justify="right")
    table.add_column("rewritten program, plain TF2", justify="right")
    for name, form in (
        ("images/s", "{:,.0f}"),
        ("steps", "{:.0f}"),
        ("loss", "{:.4f}"),
        ("accuracy", "{:.4f}"),
    ):
        cells = [
            form.format(side[name]) if name in side else "-"
            for side in (told.compat, told.rewritten)
        ]
        if cells != ["-", "-"]:
            table.add_row(name, *cells)
    console.print(table)
    console.print(
        "Each drew weights and an order of its own here; below both have the same. "
        "images/s is what the programs print; the rewritten one's first step "
        "includes the compilation of its functions.\n",
        markup=False,
    )
    print_verdict(told.verdict, sys.stdout)
    console.print(f"\nTook {told.seconds:.0f} s. Written:", markup=False)
    for path, what in (
        (told.legacy_program, "the legacy program, as it was"),
        (told.rewritten_program, "what the rewrite made of it"),
        (told.report, "the proof, with loss curves"),
    ):
        console.print(f"  {path}  {what}", markup=False, soft_wrap=True)
