"""``tfmigrate rules``: every rule in one list."""

from __future__ import annotations

import json

import click

from ..rules.registry import all_rules

EPILOG = """\b
Examples:
  tfmigrate rules
  tfmigrate rules --format json
"""


@click.command(epilog=EPILOG)
@click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text"
)
def rules(format_: str) -> None:
    """List the rules: id, name, how far to trust it, and what it does."""
    if format_ == "json":
        data = [
            {
                "id": rule.id,
                "name": rule.name,
                "safety": rule.safety.value,
                "rewrites": not rule.advice_only,
                "summary": rule.summary,
            }
            for rule in all_rules()
        ]
        click.echo(json.dumps(data, indent=1))
        return
    width = max(len(rule.name) for rule in all_rules())
    for rule in all_rules():
        kind = "advice" if rule.advice_only else rule.safety.value
        click.echo(f"{rule.id}  {rule.name:<{width}}  {kind:<15}  {rule.summary}")
