"""``tfmigrate data``: puts data sets where unedited programs find them."""

from __future__ import annotations

from pathlib import Path

import click

from ..datasets import bundled, fashion_mnist

EPILOG = """\b
Examples:
  tfmigrate data fashion-mnist
  tfmigrate data fashion-mnist --data-dir ~/Downloads/fashion-mnist
  tfmigrate data fashion-mnist --sample
"""


@click.command(epilog=EPILOG)
@click.argument("name", metavar="NAME", type=click.Choice(["fashion-mnist"]))
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that holds the four *-ubyte.gz files (or set TFMIGRATE_DATA).",
)
@click.option(
    "--no-download", is_flag=True, help="Look on this machine only, never download."
)
@click.option(
    "--sample", is_flag=True, help="Put 3,000 bundled images where there are none."
)
def data(name: str, data_dir: Path | None, no_download: bool, sample: bool) -> None:
    """Put a data set where tf.keras.datasets finds it.

    Looks in --data-dir or TFMIGRATE_DATA, in the Keras cache and in
    /usr/share/datasets/fashion-mnist, then downloads through Keras. Sizes and
    checksums are verified before anything is placed.
    """
    if sample:
        located = fashion_mnist.Located(bundled("data"), "the bundled sample")
    else:
        located = fashion_mnist.find(data_dir, download=not no_download)
    click.echo(f"{name}: {located.folder} ({located.origin})", err=True)
    for folder in fashion_mnist.place(located):
        click.echo(folder)
