"""``tfmigrate explain``: the page of one rule."""

from __future__ import annotations

from textwrap import fill

import click

from ..rules.registry import explained, find_rule

EPILOG = """\b
Examples:
  tfmigrate explain TFM203
  tfmigrate explain dropout-rate
"""


@click.command(epilog=EPILOG)
@click.argument("rule")
def explain(rule: str) -> None:
    """Show what a rule does, why, and how far to trust it."""
    for line in explained(find_rule(rule)).splitlines():
        # Code is no wider than 88; what is goes on for a paragraph.
        click.echo(line if len(line) <= 88 else fill(line, 80))
