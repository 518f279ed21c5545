"""``tfmigrate doctor``: is this environment, and this cluster, as they should be?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from ..errors import UserError

EPILOG = """\b
Examples:
  tfmigrate doctor
  TF_CONFIG='{"cluster": ...}' tfmigrate doctor
  tfmigrate doctor --tf-config worker-1.json --no-devices

\b
Exit status: 0 no problem; 1 a problem was found; 2 the usage was wrong.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--tf-config",
    "file",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Check this file's TF_CONFIG instead of the environment's.",
)
@click.option(
    "--devices/--no-devices",
    default=True,
    help="Ask TensorFlow for its devices (takes a few seconds).  [default: devices]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long TensorFlow may take to list its devices.",
)
def doctor(file: Path | None, devices: bool, timeout: float) -> None:
    """Check TF_CONFIG and the environment, and say what to mend, on one page."""
    from ..launch.environment import check_devices, check_environment
    from ..launch.tf_config import Level, Remark, check_tf_config

    problems = 0

    def tell(title: str, remarks: Iterable[Remark]) -> None:
        nonlocal problems
        click.echo(title)
        for remark in remarks:
            problems += remark.level is Level.PROBLEM
            click.echo(f"  {remark.level.value:<8} {remark.text}")

    text = os.environ.get("TF_CONFIG")
    if file is not None:
        try:
            with click.open_file(str(file), encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise UserError(
                f"cannot read {file}: {why}",
                hint="name the file that holds the TF_CONFIG, or - for stdin",
            ) from None
    tell("environment", check_environment(os.environ))
    if devices:
        tell("devices", check_devices(timeout))
    # A task described in a file need not be one of this machine.
    tell("cluster", check_tf_config(text, listen=file is None))
    click.echo(f"{problems} problem{'s'[: problems != 1]} found")
    sys.exit(1 if problems else 0)
