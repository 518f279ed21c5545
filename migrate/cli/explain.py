"""``tfmigrate explain``: the page of one rule."""

from __future__ import annotations

import click

from ..rules.pages import rule_page
from ..rules.registry import find_rule

__all__ = ["explain"]

EPILOG = """\b
Examples:
  tfmigrate explain TFM203
  tfmigrate explain dropout-rate
"""


@click.command(epilog=EPILOG)
@click.argument("rule")
def explain(rule: str) -> None:
    """Show what a rule does, why, and how far to trust it."""
    click.echo(rule_page(find_rule(rule), reasons=True), nl=False)
